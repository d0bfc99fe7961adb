"""The control API: HTTP in, the `Gateway` behind it, and nothing of either in the other.

`app` is the way in. A request passes these rooms in order: `connections` (deadlines, before there
is a request), `framing` (its id, its errors, its log line), `endpoints` (who asks, may they, how
often, and what exactly), and one function of `threads`, `questions`, `halt` or `service_pages`.
Routes are declared once, in `table`; routing and `/openapi.json` are both made from it. The other
side, as the command line uses it, is `client`.

Nothing here decides anything about a thread, and nothing here knows a store.
"""

"""Email: where people are answered by a reply, and launch an agent by writing to it.

In: from raw bytes to a `ReadMail`, under limits and in a child process (`reading`, `pool`); then
`ingest` finds the thread. Out: `posting` puts what must be said into its conversation, `wording`
gives it words, `letters` makes bytes of it, and `smtp` hands it in. Between them, `link_door`: the
page behind a link in a mail.

Nothing here decides what a mail may do: who is in a question's audience is the gateway's business.
"""

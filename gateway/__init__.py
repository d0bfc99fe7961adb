"""The program: settings, wiring and the command line.

The one place that may name concrete classes of every other package. Nothing may import it.

The rooms follow the way of one message. It comes in by `http` or, from a channel, by `intake`;
both call what `control` offers. `work` commits it and brings its thread to rest; `outbox` tells
`people`. `server` puts them together from `settings`.
"""

"""The gateway as others call it: commands about threads and questions, and looking at them.

`service` is the interface, in the shapes of `views`; `local` is the gateway over a store, made of
`answering`, `deciding`, `copies` and `reading`. `callbacks` is the operator's side of callbacks,
the `desk` what channels may look at, `memory` what they may keep. No HTTP, and no channel.
"""

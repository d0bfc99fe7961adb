"""The way out: what people must hear, from the event that tells of it to the channel that says it.

`tidings` is what is told, under the ids of `delivery_ids`. `sender` takes deliveries from the
outbox, a `lane` for each channel; `posting` reads what a delivery is about as it is now, with the
`cards` of its questions; `rerouting` goes to the next address. Who hears is decided in
`gateway.people.routing`.
"""

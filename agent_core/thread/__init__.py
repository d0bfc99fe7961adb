"""The thread as a value: events, what they add up to, and what comes next.

Everything here is pure. No I/O, no clock, no randomness, no SDK: time and ids come in through
events. `import-linter` holds it to that (see `.importlinter`).

Read in this order: `events`, `questions`, `transitions`, `state`, `fold` (with `call_fold` and
`question_fold`), `steps`, `commands`.
"""

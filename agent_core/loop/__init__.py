"""The loop: load, decide, perform, append. The thin shell around the pure thread.

`run` is the loop itself; `model_turn`, `admission`, `call_run` and `undo` perform its steps.
A store joins by the `Journal` protocol, the outside world by `World`.
"""

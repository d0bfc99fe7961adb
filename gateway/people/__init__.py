"""Who people are, and where they hear of things. Pure but for the check at the start.

`directory` knows whose identities belong together, `places` who can see what is said at an
address, `moving` where a conversation went on; `routing` says from all three who hears of an
event. `naming` and `reachability` look whether names lead to somebody, and addresses anywhere.
What people may answer is decided in `gateway.intake`.
"""

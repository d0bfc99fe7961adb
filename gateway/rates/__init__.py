"""How often: limits that hold for all machines together, and don't ask the store each time.

`buckets` says what a name may do; `ledger` keeps what was done, and tells the others through the
store. What is limited (keys, addresses, hooks) stands where it is limited, not here.
"""

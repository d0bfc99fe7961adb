"""Several processes on one PostgreSQL, beside LangGraph's PostgreSQL saver, DBOS and a floor.

`./parley bench machines`; also `machines.flood` (webhooks at a steady rate) and `machines.thrice`
(each delivery three times). docs/scale.md has what was measured.
"""

"""Pause, save, load and resume in one process, beside Agently and LangGraph.

`python -m bench.core` runs it; `README.md` beside this file says what a cycle is and why each
peer is written the way it is.
"""

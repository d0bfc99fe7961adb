"""The Web API: one file for each family of methods, one function for each method.

A method takes a `Call` and gives the fields of its answer, or raises `ApiError`. How arguments come
in is in `call.py`; which methods there are, and what they need, is in `methods.py`.
"""

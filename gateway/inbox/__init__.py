"""The inbox: pages for people, served at `/` beside the control API.

Server-rendered and complete without JavaScript. Nothing here is imported before the first page is
asked for, apart from `app`: a server that only programs talk to pays nothing for it.
"""

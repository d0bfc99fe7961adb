"""The workspace as a web page: channels, threads, buttons that click, modals that submit.

Server-rendered, and everything that anybody wrote is escaped: an app's text is shown here next to
forms that act. Nothing here decides what an action does; it asks the `Workspace` as a test would.
"""

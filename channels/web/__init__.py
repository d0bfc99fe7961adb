"""The control API's own conversations: who launched a thread by HTTP reads it there."""

"""Email: where people are answered by a reply, and launch an agent by writing to it.

This is the reading side: from raw bytes to a `ReadMail`, under limits and in a child process.
Nothing here sends, and nothing here decides what a mail may do: who is in a question's audience is
the gateway's business.
"""

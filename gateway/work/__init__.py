"""The work on threads: from events to a commit, and from a lease to rest.

`consequences` says what events mean outside the log, with `opening`, `ballots` and `lateness`;
`threads` reads a thread and commits to it. The `engine` claims what is due, a `turn` brings it to
rest, and every append of the loop goes through the `journal`. `sweeping` forgets what has expired.
Nothing here answers anybody.
"""

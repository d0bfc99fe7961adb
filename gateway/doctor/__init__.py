"""`parley doctor`: one check for each thing that has ever kept a server from working.

`examination` goes through them; the disk, email and hooks have files of their own, loaded when
they are on. Nothing here mends anything.
"""

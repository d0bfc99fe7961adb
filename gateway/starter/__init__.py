"""`parley init`: a small project to begin with. `files` holds what is copied, and runs as it is."""

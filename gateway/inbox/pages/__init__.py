"""The pages that people look at: what waits, threads, figures."""

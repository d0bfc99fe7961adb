"""What a thread looks like to a model and to people. Pure: renders values, calls nothing."""

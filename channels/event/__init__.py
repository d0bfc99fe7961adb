"""Events by key: a thread waits for something outside, and is resumed when that happens."""

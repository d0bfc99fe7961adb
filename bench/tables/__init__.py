"""What growth costs: pages and time of the engine's statements, on few and on many events."""

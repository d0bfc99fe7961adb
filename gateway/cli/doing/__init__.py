"""What the commands do. Imported when one is called, so libraries may be imported here."""

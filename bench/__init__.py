"""Measurements, beside the systems that we want to be compared with. Nothing here ships."""

"""The program: settings, wiring and the command line.

The one place that may name concrete classes of every other package. Nothing may import it.
"""

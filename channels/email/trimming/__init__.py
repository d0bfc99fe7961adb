"""What a person wrote in a mail, and what their program put around it.

Line by line and linear, whatever the body: patterns look at a bounded part of a line, and no step
looks back. What can't be told apart is kept: a quote too many is a nuisance, a lost word is a
wrong answer.
"""

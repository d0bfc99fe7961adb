"""What reading mail is worth and costs: replies found right, and mails read in a second.

Run it with `./parley bench email`.
"""

"""HTML mail, as the lines that the trimmer understands.

The structure says more than the words here: Gmail, Outlook, Yahoo, Apple, Thunderbird and Proton
name their quotes. Each becomes lines with ">" before them, and then plain and HTML mail are one.

The walk is ours and not a library's: it takes each element once, and lays out no tables. Columns
that are padded to fit make a mail of 1 MB out of one of 10 KB.
"""

"""What may be missing from an answer: holes in what a log vouches for.

Pure but for its port, through which it reads what the log says of its own
streams. Nothing here knows a question, or how an answer is written.
"""

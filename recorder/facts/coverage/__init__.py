"""What may be missing from an answer: holes in what a log vouches for.

Pure except for its port, through which it reads what the log records about its
own streams. Nothing here knows a question, or how an answer is written.
"""

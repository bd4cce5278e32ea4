"""What people read: text, Markdown, HTML and drawings of answers.

Pure: an answer and its documents give the same bytes always. Nothing here
asks anything.
"""

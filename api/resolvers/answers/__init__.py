"""Asks `recorder.answers` and converts the answers to types of the schema.

No question is answered here, only paged, bounded and converted.
"""

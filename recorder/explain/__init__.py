"""Derive verdicts from facts, and the cost of what happened from verdicts.

Pure. The rules define what a signal means; this code defines how evidence
becomes a verdict. The same facts give the same bytes.
"""

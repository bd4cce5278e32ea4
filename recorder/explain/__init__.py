"""Why: facts to verdicts, and verdicts to what they cost.

Pure. The rules say what a signal means; the code here says how evidence
becomes a verdict. The same facts give the same bytes.
"""

"""The composition root: the only place that knows every concrete class.

Commands ask here for what they need, already put together; nothing below
imports this.
"""

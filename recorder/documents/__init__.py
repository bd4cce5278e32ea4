"""Documents: the public shape of each answer, field by field.

JSON, YAML, GraphQL types and reports are written from them. A document says
what an answer says in the words of the contract; it decides nothing.
"""

"""The types of the schema, each made from an answer of `recorder`.

A type is filled where its parent is resolved, so that the items of a list
cost no call each; only single objects have fields that ask the log.
"""

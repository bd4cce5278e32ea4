"""What one reader may see of the logs.

The one place where authorization is applied: a log is read through these
adapters of the ports of reading, so no field of the schema, no export and no
subscription can hold what its reader has no right to.
"""

"""Authorization: what one reader may see of the logs.

It is applied only here: logs are read through these adapters of the reading
ports, so no field of the schema, no export and no subscription can contain
what its reader has no permission to see.
"""

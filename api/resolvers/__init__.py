"""The fields of the schema that ask questions."""

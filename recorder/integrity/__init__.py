"""Proving that nothing was altered: hashes, trees, proofs and signed notes.

Pure: bytes in, bytes out. What is hashed, and how, is specified in
``docs/integrity.md``, so that others can write a verifier; a change is a new
version, never a correction. The store reads the log, and adapters store
checkpoints.
"""

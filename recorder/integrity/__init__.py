"""Proving that nothing was altered: hashes, trees, proofs and signed notes.

Pure: bytes in, bytes out. What is hashed, and how, is specified in
``docs/integrity.md``, so that somebody else can write a verifier; a change of
it is a new version, never a correction. Reading the log is the business of
the store, and where checkpoints are kept that of the adapters.
"""

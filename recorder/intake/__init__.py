"""Intake: observations in, committed entries out.

The use case of the recording half: it decides what is new, what is a
heartbeat, what is a gap, and in which order and batch everything is written.
It knows no driver; its ports state what it needs. `redact` removes secrets
before anything else reads a document.
"""

"""Intake: observations in, committed entries out.

The use case of the recording half: it decides what is new, what is a
heartbeat, what is a gap, in which order and in which batch everything is
written. It knows no driver; its ports say what it needs.
"""

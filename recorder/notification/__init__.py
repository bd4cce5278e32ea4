"""Use case: telling webhooks of incidents and gaps, each verdict once.

Rules say what is told, to whom and in which shape. What is to be told is
compared with what was told and put into an outbox, and posted from there. It
knows neither the database nor HTTP, and detects nothing itself: it asks the
questions that people ask.
"""

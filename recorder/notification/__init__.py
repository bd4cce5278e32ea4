"""Use case: posting incidents and gaps to webhooks, each verdict once.

Rules define what is posted, to which address and in which shape. What is
found is compared with what was reported; new messages are put into an outbox
and posted from there. It uses no database driver, and only `posting` uses
HTTP; it detects nothing itself: it asks the questions that people ask.
"""

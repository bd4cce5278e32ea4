"""Use case: posting incidents and gaps to webhooks, each verdict once.

Rules say what is posted, to which address and in which shape. What is found
is compared with what was posted and put into an outbox, and posted from
there. It knows no database, and `posting` alone knows HTTP; it detects
nothing itself: it asks the questions that people ask.
"""

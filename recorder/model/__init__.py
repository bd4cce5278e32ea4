"""The nouns of the log, errors, settings, and files of rules.

An `Observation` is what a source handed us; it has no place in the log yet
and is lost with the process. A `Draft` is one observation that will become a
line. Appending gives it a position and makes it an entry, which is never
changed and never reordered.

Three clocks appear and must not be mixed: ``occurred_at`` is the cluster's
claim, ``observed_at`` is our clock when the bytes arrived, ``recorded_at`` is
PostgreSQL's in the writing transaction. None of them orders the log; only the
position does.
"""

"""What an operator runs to keep a log: archive, verify, prune, hand over keys.

Days are archived, dropped and held; entries, proofs and facts are verified
against signed checkpoints; facts are derived again; tokens, the redaction key
and the signing key are made. Every step can be repeated after a crash.
"""

"""Forms of text that all answers share: tables, lines and drawings.

Pure and deterministic; nothing here reads a log.
"""

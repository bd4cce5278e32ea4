"""Answers about the log: the question, how it is found, and its words.

A module holds one answer: the struct of its question, the function that asks
it, the public struct that JSON and GraphQL show, and its lines for people.

Pure but for the port through which the log is read: no driver, no terminal,
no clock of its own. Every answer carries its coverage, which says whether
something may be missing from it.
"""

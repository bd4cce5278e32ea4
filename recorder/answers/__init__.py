"""Answers about the log: questions, how they are answered, and their text.

A module has one answer: the struct of its question, the function that answers
it, the public struct of JSON and GraphQL, and its lines for people.

Pure except for the port through which the log is read: no driver, no terminal,
no clock. Every answer has its coverage, which shows whether something may be
missing from it.
"""

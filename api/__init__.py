"""The served API: GraphQL, the export, and the page.

Read-only. It asks the logs through `api.ports` and answers in the words of
`recorder.answers`; nothing here decides what happened, and nothing but the
wiring, for the command line, imports it.
"""

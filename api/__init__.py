"""The served API: GraphQL, the export, and the page.

Read-only. It reads logs through `api.ports` and returns the answers of
`recorder.answers`; it does not decide what happened. Only the wiring of the
command line imports it.
"""

"""The served API: GraphQL, the export, and the page.

Read-only. It asks through `recorder.wiring` and answers in the words of
`recorder.report`; nothing here decides what happened, and nothing but the
command line, through the wiring, imports it.
"""

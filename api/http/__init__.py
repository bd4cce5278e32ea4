"""The API over HTTP: GraphQL, its streams, the export and the page's files.

Requests are bounded and authenticated before anything is read.
"""

"""The answers as tools of the Model Context Protocol, for agents.

The same questions as elsewhere, bounded and read-only. The official SDK speaks
the protocol; it is an extra, imported on first use.
"""

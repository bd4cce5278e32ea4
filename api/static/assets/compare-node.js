let made;
export default ({ in_ask_fragments, in_needs, in_needs_metrics, in_words_recording }) => made ??= (() => {
const in_ask_ofnode = (() => {
const {
COVERAGE, GAP, WORKLOAD_HIT, VERDICT, REFERENCE, LOG, OF_LOG, PLACEMENT,
} = in_ask_fragments;
const LATEST = `query Latest(${LOG}, $node: String!) {
why(${OF_LOG}, node: $node) {
verdicts { id beganAt at backInServiceAt }
}
}`;
const NODE = `query Node(${LOG}, $node: String!, $since: DateTime,
$until: DateTime) {
node(${OF_LOG}, name: $node) {
name
why(since: $since, until: $until) {
verdicts { ${VERDICT} } ${COVERAGE}
}
impact(since: $since, until: $until) {
workloads { ${WORKLOAD_HIT} }
totals { workloads pods gpus gpuHoursLost }
coverage { complete }
}
timeline(since: $since, until: $until) {
service { from to state entry }
conditions { type from to status reason message isFault entry }
boots { bootId from to entry }
taints { key effect value from to actor entry }
cordons { from to actor entry }
placements { ${PLACEMENT} }
dpus {
cluster node
service { from to state entry }
conditions { type from to status reason message isFault entry }
}
facts { entry index kind at actor says type
object { ${REFERENCE} } }
unknownTypes moreFacts
gaps { ${GAP} }
}
}
}`;
const MAP = `query Map(${LOG}, $node: String!, $since: DateTime,
$steps: Int!) {
incidents(${OF_LOG}, node: $node, since: $since, last: 1, steps: $steps) {
nodes { from sentence }
histogram { steps { from to count } gaps { resource from to } }
nearest { before { at says } }
}
}`;
const COMPARABLE = `query Comparable(${LOG}, $node: String!,
$since: DateTime) {
incidents(${OF_LOG}, node: $node, since: $since, last: 10, steps: 1) {
nodes { id from }
}
}`;
return { LATEST, NODE, MAP, COMPARABLE };
})();
const in_needs_node = (() => {
const { LATEST, MAP, NODE } = in_ask_ofnode;
const { logOf, nodeSlot, written } = in_needs;
const { BEHIND_MAX } = in_words_recording;
const { metricsOf } = in_needs_metrics;
const MAP_STEPS = 240;
function ofNode(state) {
const { place, known } = state;
const log = logOf(known);
const node = place.name;
if (place.from === null || place.to === null) {
const variables = { ...log, node };
return [{ slot: 'latest', query: LATEST, variables }];
}
const asked = asking({ from: place.from, to: place.to }, known);
return [
{
slot: nodeSlot(place), query: NODE,
variables: { ...log, node, ...asked },
},
{
slot: 'map', query: MAP, isAside: true,
variables: { ...log, node, since: written(known.began), steps: MAP_STEPS },
},
...metricsOf(state),
];
}
function asking({ from, to }, known) {
const unit = 2 ** Math.ceil(Math.log2(to - from));
const since = Math.floor(from / unit - 0.5) * unit;
const until = Math.ceil(to / unit + 0.5) * unit;
const { began, until: end } = known;
const isBefore = began !== null && from < began;
const isBehind = end !== null && from >= end;
return {
since: written(isBefore ? since : Math.max(since, began ?? since)),
until: end !== null && until >= end - BEHIND_MAX && !isBehind
? null : written(until),
};
}
return { ofNode, asking };
})();
return { in_ask_ofnode, in_needs_node };
})();

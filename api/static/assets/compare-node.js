let made;
export default ({ in_ask_offleet, in_ask_ofnode, in_needs, in_needs_metrics }) => made ??= (() => {
const in_needs_node = (() => {
const { INCIDENTS } = in_ask_offleet;
const { LATEST, NODE } = in_ask_ofnode;
const { logOf, nodeSlot, written } = in_needs;
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
const everything = { since: written(known.began), until: null };
return [
{
slot: nodeSlot(place), query: NODE,
variables: { ...log, node, ...asked },
},
{
slot: 'map', query: INCIDENTS, isAside: true,
variables: { ...log, node, ...everything, last: 1, steps: MAP_STEPS },
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
until: end !== null && until >= end && !isBehind ? null : written(until),
};
}
return { ofNode, asking };
})();
return { in_needs_node };
})();

let made;
export default ({ in_time_clock, in_words_plain }) => made ??= (() => {
const in_words_incident = (() => {
const { span } = in_time_clock;
const { term } = in_words_plain;
const SECOND = 1000;
function lasted({ happened, to, duration }) {
if (to === null) return happened === 'REMOVED' ? '' : 'not back';
return duration === null ? '' : lasts(duration.seconds, duration.atMost);
}
const lasts = (seconds, atMost) =>
`${span(Math.round(seconds) * SECOND)}${atMost ? ' at most' : ''}`;
function because({ cause, verdicts }) {
const [first] = verdicts;
const fault = first?.fault ? term(first.fault.class) : null;
const decision = first?.decision ? term(first.decision.class) : null;
if (fault && decision) return `${fault} → ${decision}`;
if (cause === 'UNRECORDED') return 'cause unknown';
return fault ?? decision ?? term(cause);
}
function searched(incident) {
const jobs = incident.workloads.map(
({ workload }) =>
`${workload.kind} ${workload.namespace}/${workload.name}`,
);
return [
incident.sentence, because(incident), term(incident.happened),
term(incident.confidence), term(incident.group), ...incident.nodes, ...jobs,
].join('\n').toLowerCase();
}
function incidentsOf(pages, words) {
const all = pages.flatMap((data) =>
[...(data?.incidents?.nodes ?? [])].reverse());
const once = [...new Map(all.map((one) => [one.id, one])).values()];
return once.filter((incident) => {
const text = words.length === 0 ? '' : searched(incident);
return words.every((word) => text.includes(word));
});
}
return { lasted, lasts, because, incidentsOf };
})();
return { in_words_incident };
})();

let made;
export default ({ in_ask_fragments, in_html, in_needs, in_needs_span, in_ordering, in_time_clock, in_time_instant, in_views_facets, in_views_headings, in_views_leftout, in_views_states, in_views_strip, in_words_author, in_words_counts, in_words_filter, in_words_incident, in_words_markdown, in_words_plain }) => made ??= (() => {
const in_ask_offleet = (() => {
const { COVERAGE, GAP, LOG, OF_LOG } = in_ask_fragments;
const INCIDENTS = `query Incidents(${LOG}, $since: DateTime,
$until: DateTime, $happened: [Happened!], $causes: [Cause!],
$confidence: [Confidence!], $node: String, $workload: String,
$racks: [String], $namespaces: [String], $controllers: [String],
$last: Int, $before: String, $steps: Int!) {
incidents(${OF_LOG}, since: $since, until: $until, happened: $happened,
causes: $causes, confidence: $confidence, node: $node,
workload: $workload, racks: $racks, namespaces: $namespaces,
controllers: $controllers, last: $last, before: $before, steps: $steps) {
count facets { facet words { word count } }
nodes { id happened cause nodes from to group sentence confidence
duration { kind seconds atMost }
verdicts { id node at beganAt backInServiceAt
fault { class } decision { class actor { name tool } } }
workloads { workload { kind namespace name } gpuHoursAttributed }
totals { workloads pods gpus gpuHoursAttributed } }
places { node key value }
pageInfo { hasPreviousPage startCursor }
histogram { stepSeconds steps { from to count } gaps { ${GAP} } }
nearest { before { at node entry says } after { at node entry says } }
${COVERAGE}
}
}`;
const RECENT = `query Recent(${LOG}, $since: DateTime) {
incidents(${OF_LOG}, since: $since, last: 500, steps: 1) {
nodes { id happened from nodes }
}
}`;
return { INCIDENTS, RECENT };
})();
const in_fleet_standing = (() => {
const { logOf } = in_words_incident;
const NARROW = ['rack', 'pdu', 'switch', 'leaf-switch', 'block'];
function placesOf(pages) {
const places = new Map();
for (const { log, data } of pages) {
for (const { node, key, value } of data?.incidents?.places ?? []) {
const name = `${log} ${node}`;
const labels = places.get(name) ?? [];
if (!labels.some((one) => one.key === key)) labels.push({ key, value });
places.set(name, labels);
}
}
return places;
}
const lastPart = (key) => key.slice(key.lastIndexOf('/') + 1);
const narrowness = ({ key }) => NARROW.indexOf(lastPart(key));
function sharedPlace({ id, nodes }, places) {
const [first, ...others] = nodes.map((node) =>
places.get(`${logOf(id)} ${node}`) ?? []);
const shared = (first ?? [])
.filter((label) => narrowness(label) >= 0)
.filter(({ key, value }) => others.every((labels) =>
labels.some((one) => one.key === key && one.value === value)))
.sort((one, other) => narrowness(one) - narrowness(other));
return shared[0] ?? null;
}
function placeWords({ key, value }) {
const word = lastPart(key).toLowerCase();
return value.toLowerCase().startsWith(word) ? value : `${word} ${value}`;
}
return { placesOf, sharedPlace, placeWords };
})();
const in_needs_fleet = (() => {
const { INCIDENTS, RECENT } = in_ask_offleet;
const {
fleetSlot, logOf, olderOf, OTHERS_EVERY, PAGE_LENGTH, written,
} = in_needs;
const { readInstant } = in_time_instant;
const { readFilter } = in_words_filter;
const { spanOf } = in_needs_span;
const WEEK = 7 * 86_400_000;
const STRIP_STEPS = 120;
function ofFleet({ place, known, cursorsOf, logs = [known] }) {
return logs.flatMap((one, number) => {
const [first, ...others] = ofLog(place, one, number === 0);
return [first, ...others, ...olderOf(first, cursorsOf)];
});
}
function ofLog(place, known, isFirst) {
const span = spanOf(place, known);
const variables = {
...logOf(known), ...span, ...readFilter(place.filter).variables,
last: PAGE_LENGTH, steps: STRIP_STEPS,
};
const needs = [{
slot: fleetSlot(known, isFirst), query: INCIDENTS, variables,
...(isFirst ? {} : { every: OTHERS_EVERY }),
}];
const week = (known.until ?? 0) - WEEK;
const isShort = (readInstant(span.since ?? '') ?? known.until ?? 0) > week;
if (isShort && span.since !== written(known.began)) {
const since = written(Math.max(week, known.began ?? week));
needs.push({
slot: `recent ${known.log}`, query: RECENT, isAside: true,
variables: { ...logOf(known), since },
});
}
return needs;
}
return { ofFleet };
})();
const in_fleet_traits = (() => {
const { readInstant } = in_time_instant;
const { day } = in_time_clock;
const { NONE } = in_words_filter;
const { logOf } = in_words_incident;
const { term } = in_words_plain;
const { placeWords, sharedPlace } = in_fleet_standing;
const FACETS = [
{ facet: 'cause', title: 'Cause', prefix: '' },
{ facet: 'happened', title: 'Happened', prefix: '' },
{ facet: 'confidence', title: 'Confidence', prefix: '' },
{ facet: 'rack', title: 'Rack or switch', prefix: 'rack:' },
{ facet: 'namespace', title: 'Namespace hit', prefix: 'namespace:' },
{ facet: 'controller', title: 'Controller', prefix: 'controller:' },
];
const TRAITS = {
cause: { title: 'Cause', of: ({ cause }) => [term(cause)] },
happened: { title: 'Happened', of: ({ happened }) => [term(happened)] },
confidence: {
title: 'Confidence', of: ({ confidence }) => [term(confidence)],
},
rack: { title: 'Rack or switch', of: (incident, places) => [
rackOf(incident, places) ?? NONE] },
namespace: { title: 'Namespace hit', of: ({ workloads }) => {
const names = new Set(workloads.map(
({ workload }) => workload.namespace));
return names.size === 0 ? [NONE] : [...names];
} },
controller: { title: 'Decided by', of: (incident) => [
deciderOf(incident) ?? NONE] },
};
function rackOf(incident, places) {
return sharedPlace(incident, places)?.value ?? null;
}
function deciderOf({ verdicts }) {
const actor = verdicts[0]?.decision?.actor;
return actor?.name ?? actor?.tool ?? null;
}
function struckAt(incident, places) {
const { nodes, group } = incident;
const place = sharedPlace(incident, places);
if (nodes.length === 1) {
return { title: nodes[0], detail: place ? placeWords(place) : '' };
}
const title = place ? placeWords(place)
: `${group === 'NODE' ? '' : `${term(group)}, `}${nodes.length} nodes`;
return { title, detail: nodes.join(', ') };
}
const SEVERITIES = ([
['out', 'not back'], ['work', 'work hit'], ['node', 'node only'],
['minor', 'minor'],
]);
const LOST = new Set([
'REBOOT', 'UNREACHABLE', 'REPLACED', 'REJOINED', 'REMOVED',
]);
function severityOf({ to, happened, totals }) {
const isOut = to === null && happened !== 'REMOVED' && happened !== 'DEGRADED';
let rank = LOST.has(happened) ? 2 : 3;
if (totals.pods > 0) rank = 1;
if (isOut) rank = 0;
const [tone, word] = SEVERITIES[rank];
return { rank, tone, word };
}
const GROUPINGS = ['day', 'node', ...Object.keys(TRAITS), 'nothing'];
function grouped(incidents, by, about) {
if (by === 'nothing') return [{ title: '', incidents }];
const groups = new Map();
for (const incident of incidents) {
for (const title of titlesOf(incident, by, about)) {
groups.set(title, [...(groups.get(title) ?? []), incident]);
}
}
return [...groups].map(([title, list]) => ({ title, incidents: list }));
}
function titlesOf(incident, by, { places, zone, names }) {
if (by === 'day') return [day(readInstant(incident.from) ?? 0, zone)];
const cluster = names.get(logOf(incident.id));
const inIt = (name) =>
cluster && name !== NONE ? `${cluster}: ${name}` : name;
if (by === 'node') return [inIt(incident.nodes.join(', '))];
const words = TRAITS[by].of(incident, places);
return by === 'rack' ? words.map(inIt) : words;
}
return { FACETS, TRAITS, rackOf, struckAt, severityOf, GROUPINGS, grouped };
})();
const in_fleet_columns = (() => {
const { readInstant } = in_time_instant;
const { term } = in_words_plain;
const { severityOf, struckAt } = in_fleet_traits;
const timeOf = ({ from }) => readInstant(from) ?? 0;
const lengthOf = ({ to, duration }) => to === null ? Infinity
: duration?.seconds ?? 0;
const COLUMNS = [
{ id: 'time', title: 'Began', by: timeOf },
{ id: 'severity', title: 'Severity', by: (one) => -severityOf(one).rank },
{ id: 'struck', title: 'Node or rack', isWord: true,
by: (one, places) => struckAt(one, places).title },
{ id: 'happened', title: 'Happened', isWord: true,
by: ({ happened }) => term(happened) },
{ id: 'length', title: 'For', by: lengthOf },
{ id: 'cause', title: 'Cause', isWord: true, by: ({ cause }) => term(cause) },
{ id: 'jobs', title: 'Jobs', by: ({ totals }) => totals.workloads },
{ id: 'lost', title: 'GPU-hours lost',
by: ({ totals }) => totals.gpuHoursAttributed },
{ id: 'confidence', title: 'Confidence', by: ({ confidence }) =>
['UNKNOWN', 'POSSIBLE', 'LIKELY', 'PROVEN'].indexOf(confidence) },
];
return { COLUMNS };
})();
const in_fleet_sums = (() => {
const { readInstant, offsetOf } = in_time_instant;
const { logOf } = in_words_incident;
const { verb } = in_words_plain;
const { rackOf } = in_fleet_traits;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
const HOURS_SPAN = DAY;
const COLUMNS_MAX = 31;
const ROWS_MAX = 25;
function heatOf(incidents, { of, window, zone }) {
const isHours = window.to - window.from <= HOURS_SPAN;
const unit = isHours ? HOUR : DAY;
const ahead = offsetOf(window.to, zone);
const end = Math.ceil((window.to + ahead) / unit) * unit - ahead;
const count = Math.min(
Math.max(Math.ceil((end - window.from) / unit), 1), COLUMNS_MAX);
const steps = Array.from({ length: count }, (_, place) => {
const from = end - (count - place) * unit;
return { from, to: from + unit };
});
const rows = new Map();
for (const incident of incidents) {
const at = readInstant(incident.from) ?? 0;
const place = Math.floor((at - steps[0].from) / unit);
if (place < 0 || place >= count) continue;
const log = logOf(incident.id);
for (const name of of(incident)) {
const row = rows.get(`${log} ${name}`)
?? { name, log, counts: Array(count).fill(0) };
row.counts[place] += 1;
rows.set(`${log} ${name}`, row);
}
}
const all = [...rows.values()]
.map((row) => ({ ...row, total: summed(row.counts) }))
.sort((one, other) =>
other.total - one.total || one.name.localeCompare(other.name));
return {
steps, isHours, rows: all.slice(0, ROWS_MAX),
left: Math.max(all.length - ROWS_MAX, 0),
most: Math.max(...all.flatMap(({ counts }) => counts), 1),
};
}
const summed = (numbers) => numbers.reduce((sum, one) => sum + one, 0);
const racksOf = (places) => (incident) => [...new Set(
incident.nodes
.map((node) =>
rackOf({ ...incident, nodes: [node] }, places))
.filter((rack) => rack !== null))];
function hoursByNamespace(incidents) {
const hours = new Map();
for (const { workloads } of incidents) {
for (const { workload, gpuHoursAttributed } of workloads) {
const { namespace } = workload;
hours.set(namespace, (hours.get(namespace) ?? 0) + gpuHoursAttributed);
}
}
return [...hours]
.filter(([, lost]) => lost > 0)
.map(([name, lost]) => ({ name, hours: lost }))
.sort((one, other) => other.hours - one.hours);
}
function returnsOf(recent) {
const inOrder = [...recent].sort((one, other) =>
(readInstant(one.from) ?? 0) - (readInstant(other.from) ?? 0));
const times = new Map();
const found = new Map();
for (const { id, nodes, happened, from } of inOrder) {
const at = readInstant(from) ?? 0;
for (const node of nodes) {
const key = `${logOf(id)} ${node} ${happened}`;
const within = (times.get(key) ?? []).filter((one) => at - one <= WEEK);
within.push(at);
times.set(key, within);
found.set(`${id} ${node}`, { times: within.length, first: within[0] });
}
}
return found;
}
const NOUNS = {
REBOOT: 'reboot', UNREACHABLE: 'loss of contact',
KUBELET_RESTART: 'kubelet restart', DRAINED: 'drain', CORDONED: 'cordon',
DEGRADED: 'fault', REPLACED: 'replacement', REJOINED: 'return as a new Node',
REMOVED: 'removal', JOINED: 'joining',
};
const ORDINALS = ['', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth',
'seventh', 'eighth', 'ninth', 'tenth'];
function returningWords({ id, nodes, happened }, returns) {
const most = Math.max(...nodes.map((node) =>
returns.get(`${id} ${node}`)?.times ?? 1));
if (most < 2) return '';
const noun = NOUNS[happened] ?? verb(happened);
return `${ORDINALS[most] ?? `${most}th`} ${noun} in 7 days`;
}
return { heatOf, racksOf, hoursByNamespace, returnsOf, returningWords };
})();
const in_fleet_fleet = (() => {
const { fleetSlot } = in_needs;
const { orderOf, sorted } = in_ordering;
const { readInstant } = in_time_instant;
const { facetsOf } = in_words_counts;
const { readFilter } = in_words_filter;
const { incidentsOf } = in_words_incident;
const { COLUMNS } = in_fleet_columns;
const { placesOf } = in_fleet_standing;
const { returnsOf } = in_fleet_sums;
const { GROUPINGS, grouped } = in_fleet_traits;
const BARS = 120;
const ROOM = 0.02;
function fleetOf(page) {
const { place, answers } = page;
const logs = page.fleetLogs.map((known, number) => {
const answer = answers.of(fleetSlot(known, number === 0));
const recent = answers.of(`recent ${known.log}`).data?.incidents?.nodes ?? [];
const older = page.pagesOf(fleetSlot(known, number === 0)).slice(1);
return {
known, answer, recent, found: answer.data?.incidents ?? null,
pages: [answer.data, ...older.map(({ data }) => data)],
};
});
const pages = logs.flatMap((one) => one.pages);
const places = placesOf(logs.flatMap(({ known: { log }, pages: all }) =>
all.map((data) => ({ log, data }))));
const names = new Map(logs.length < 2 ? []
: logs.map(({ known: { log, name } }) => [log, name]));
const { words } = readFilter(place.filter);
const chosen = incidentsOf(pages, words);
const by = GROUPINGS.includes(place.group) ? place.group : groupOf(place.sort);
const groups = grouped(sorted(COLUMNS, chosen, place.sort, places), by,
{ places, zone: place.zone, names });
const incidents = [...new Set(groups.flatMap((group) => group.incidents))];
const recent = [...logs.flatMap((one) => one.recent), ...incidentsOf(pages, [])];
return {
logs, names, places, groups, by, incidents,
facets: facetsOf(logs.map(({ found }) => found?.facets ?? [])),
isNarrowed: words.length > 0,
returns: returnsOf([...new Map(recent.map((one) => [one.id, one])).values()]),
window: windowOf(place, logs),
count: logs.reduce((sum, { found }) => sum + (found?.count ?? 0), 0),
};
}
const groupOf = (sort) => (orderOf(COLUMNS, sort).id === 'time' ? 'day' : 'nothing');
function windowOf({ from, to }, logs) {
if (from !== null && to !== null) return { from, to };
const spans = logs.flatMap(({ known: { began, until }, found }) => {
if (found === null || began === null || until === null) return [];
const room = Math.max((until - began) * ROOM, 1000);
const since = readInstant(found.coverage.since ?? '') ?? began - room;
const end = readInstant(found.coverage.until ?? '') ?? until + room;
return [{ from: Math.max(since, began - room), to: end }];
});
if (spans.length === 0) return null;
const first = Math.min(...spans.map((span) => span.from));
return { from: first, to: Math.max(...spans.map((span) => span.to), first + 1000) };
}
function barsOf({ incidents, window, logs, isNarrowed, count }) {
if (window === null) return [];
const [{ found }] = logs;
const isWhole = logs.length > 1 || isNarrowed || incidents.length === count;
if (!isWhole) {
return found.histogram.steps.map((step) => ({
from: readInstant(step.from) ?? 0, to: readInstant(step.to) ?? 0,
count: step.count,
}));
}
const unit = (window.to - window.from) / BARS;
const counts = new Map();
for (const incident of incidents) {
const at = readInstant(incident.from) ?? 0;
const place = Math.floor((at - window.from) / unit);
counts.set(place, (counts.get(place) ?? 0) + 1);
}
return [...counts].map(([place, times]) => ({
from: window.from + place * unit, to: window.from + (place + 1) * unit,
count: times,
}));
}
return { fleetOf, windowOf, barsOf };
})();
const in_views_incidents = (() => {
const { COLUMNS } = in_fleet_columns;
const { returningWords } = in_fleet_sums;
const { severityOf, struckAt } = in_fleet_traits;
const { html } = in_html;
const { readInstant } = in_time_instant;
const { clock, day, zoneName } = in_time_clock;
const { actorName } = in_words_author;
const { because, lasted, logOf } = in_words_incident;
const { counted, gpuHours, objectName, prose, verb } = in_words_plain;
const { Headings } = in_views_headings;
function Incidents({ page, fleet }) {
const { groups } = fleet;
return html`
<table class="incidents stacked">
<${Headings} page=${page} columns=${COLUMNS} />
${groups.map((group) => html`
<${Group} key=${group.title} page=${page} fleet=${fleet}
group=${group} />`)}
</table>
`;
}
function Group({ page, fleet, group: { title, incidents } }) {
const { zone } = page.place;
const lost = incidents.reduce((sum,
one) => sum + one.totals.gpuHoursAttributed, 0);
const about = [counted(incidents.length, 'incident')];
if (lost > 0) about.push(`≥ ${gpuHours(lost)} GPU-hours`);
if (fleet.by === 'day') {
about.push(zoneName(zone, readInstant(incidents[0].from) ?? 0));
}
return html`
<tbody>
${title && html`<tr class="day">
<th colspan=${COLUMNS.length} scope="rowgroup">${title}
${' '}<small>${about.join(' · ')}</small></th></tr>`}
${incidents.map((incident) => html`
<${Line} key=${incident.id} page=${page} fleet=${fleet}
incident=${incident} />`)}
</tbody>
`;
}
function Job({ page, incident: { id, workloads, totals } }) {
const [first] = [...workloads].sort((one, other) =>
other.gpuHoursAttributed - one.gpuHoursAttributed);
if (first === undefined) return null;
const more = totals.workloads - 1;
return html`<a href=${page.workloadLink(first.workload, logOf(id))}
>${objectName(first.workload)}</a>${more > 0 && ` and ${more} more`}${
totals.gpus > 0 && `, ${counted(totals.gpus, 'GPU')}`}`;
}
function byWhom({ verdicts: [verdict] }) {
const actor = verdict?.decision?.actor;
return actor?.name || actor?.tool ? `by ${actorName(actor)}` : '';
}
function Line({ page, fleet, incident }) {
const { zone } = page.place;
const { places, returns, incidents, by } = fleet;
const at = readInstant(incident.from) ?? 0;
const isChosen = incidents[page.ui.chosen] === incident;
const { title, detail } = struckAt(incident, places);
const { tone, word } = severityOf(incident);
const again = returningWords(incident, returns);
const { gpuHoursAttributed } = incident.totals;
const who = byWhom(incident);
const sure = prose(incident.confidence);
return html`
<tr class="incident ${isChosen ? 'chosen' : ''}">
<td><time title=${day(at, zone)}>${clock(at, zone)}</time>
${by !== 'day' && html` <small>${day(at, zone)}</small>`}</td>
<td><span class="severity ${tone}">${word}</span></td>
<td class="node"><a href=${page.incidentLink(incident)}
aria-current=${isChosen} title=${incident.sentence}>${title}</a>
${' '}<small>${[fleet.names.get(logOf(incident.id)), detail]
.filter(Boolean).join(', ')}</small></td>
<td class="what">${verb(incident.happened)}
${again && html` <small class="again">${again}</small>`}</td>
<td class="length">${lasted(incident)}</td>
<td class="cause">${because(incident)}${who && html`
${' '}<small>${who}</small>`}</td>
<td class="cost"><${Job} page=${page} incident=${incident} /></td>
<td class="lost">${gpuHoursAttributed > 0
&& `≥ ${gpuHours(gpuHoursAttributed)} GPU-h`}</td>
<td><span class="sure ${sure}">${sure}</span></td>
</tr>
`;
}
return { Incidents };
})();
const in_views_sums = (() => {
const { heatOf, hoursByNamespace, racksOf } = in_fleet_sums;
const { html } = in_html;
const { clock, day } = in_time_clock;
const { hasWord, toggled } = in_words_filter;
const { counted, gpuHours } = in_words_plain;
const SHADES = 4;
function Sums({ page, fleet }) {
const { incidents, places } = fleet;
return html`
<div class="sums">
<${Heat} page=${page} fleet=${fleet} title="Nodes" trait="node"
of=${({ nodes }) => nodes} />
<${Heat} page=${page} fleet=${fleet} title="Racks" trait="rack"
of=${racksOf(places)} />
<${Hours} page=${page} hours=${hoursByNamespace(incidents)} />
</div>
`;
}
function Heat({ page, fleet, title, trait, of }) {
const { zone } = page.place;
const { window, incidents } = fleet;
if (window === null) return null;
const heat = heatOf(incidents, { of, window, zone });
if (heat.rows.length === 0) return null;
const id = `heat-${trait}`;
const name = ({ from }) => heat.isHours ? clock(from, zone).slice(0, 5)
: day(from, zone).split(' ').slice(0, 2).join(' ');
return html`
<section aria-labelledby=${id}>
<h2 id=${id}>${title} by ${heat.isHours ? 'hour' : 'day'}</h2>
<div class="scrolled" tabindex="0" role="group" aria-labelledby=${id}>
<table class="heat">
<thead><tr><th scope="col">${title.slice(0, -1)}</th>
${heat.steps.map((step) => html`
<th key=${step.from} scope="col">${name(step)}</th>`)}</tr></thead>
<tbody>${heat.rows.map((row) => html`
<tr key="${row.log} ${row.name}">
<th scope="row"><a href=${page.keep({ ...logged(fleet, row), filter:
toggled(page.place.filter, `${trait}:${row.name}`) })}>${
row.name}</a>${fleet.names.has(row.log) && html` <small>${
fleet.names.get(row.log)}</small>`}</th>
${row.counts.map((count, number) => {
const step = heat.steps[number];
const shade = Math.ceil((count / heat.most) * SHADES);
return html`<td key=${step.from} class="heat-${shade}">${count > 0
&& html`<a href=${page.keep({
...narrowed(page, trait, row, step), ...logged(fleet, row) })}
title="${counted(count, 'incident')}, ${row.name}, ${
name(step)}">${count}</a>`}</td>`;
})}
</tr>`)}</tbody>
</table></div>
${heat.left > 0 && html`<p class="quiet">and ${heat.left} more with fewer
incidents</p>`}
</section>
`;
}
const logged = ({ names }, { log }) => names.has(log) ? { log, cluster: '' } : {};
function narrowed(page, trait, { name }, step) {
const word = `${trait}:${name}`;
const { filter } = page.place;
return {
...step, last: '', filter: hasWord(filter, word) ? filter
: toggled(filter, word),
};
}
function Hours({ page, hours }) {
if (hours.length === 0) return null;
const most = hours[0].hours;
const { filter } = page.place;
return html`
<section aria-labelledby="hours-title">
<h2 id="hours-title">GPU-hours lost by namespace
<small>at least</small></h2>
<ul class="hours">${hours.map(({ name, hours: lost }) => html`
<li key=${name}><a href=${page.keep({
filter: toggled(filter, `namespace:${name}`) })}>
<span>${name}</span>
<i style=${{ width: `${(lost / most) * 100}%` }}></i>
<b>${gpuHours(lost)}</b></a></li>`)}</ul>
</section>
`;
}
return { Sums };
})();
const in_views_fleet = (() => {
const { barsOf, fleetOf } = in_fleet_fleet;
const { FACETS, GROUPINGS, TRAITS } = in_fleet_traits;
const { html } = in_html;
const { ofFleet } = in_needs_fleet;
const { readInstant } = in_time_instant;
const { dayAndClock } = in_time_clock;
const { FILTER_WORDS } = in_words_filter;
const { logOf } = in_words_incident;
const { incidentsMarkdown } = in_words_markdown;
const { counted, gpuHours, objectName } = in_words_plain;
const { Facets } = in_views_facets;
const { Holes, LeftOut } = in_views_leftout;
const { Incidents } = in_views_incidents;
const { Sums } = in_views_sums;
const { Away, Empty, Trouble, Waiting } = in_views_states;
const { Strip } = in_views_strip;
const markdownOf = ({ incidents, place }) =>
incidentsMarkdown(incidents, place.zone);
const needsOf = ofFleet;
function Fleet({ page }) {
const { place, fleet } = page;
const answers = fleet.logs.map(({ answer }) => answer);
const failed = answers.filter(({ error }) => error !== '');
const isWaiting = answers.every(({ data }) => data === null);
return html`
<section class="fleet" aria-labelledby="title">
<${Headline} fleet=${fleet} isWaiting=${isWaiting} />
${failed.map((answer) => html`<${Trouble} answer=${answer}
zone=${place.zone} onRetry=${() => page.answers.retry()} />`)}
${page.isOfAll && html`<${Away} away=${page.away} />`}
<${LeftOut} page=${page} />
<${Filter} page=${page} fleet=${fleet} />
${isWaiting
? failed.length === 0 && html`<${Waiting} lines=${7}
says="Loading incidents" />`
: html`<${Answered} page=${page} fleet=${fleet} />`}
</section>
`;
}
function Headline({ fleet: { incidents, logs }, isWaiting }) {
if (isWaiting) return html`<h1 id="title">Incidents</h1>`;
const lost = incidents.reduce(
(sum, { totals }) => sum + totals.gpuHoursAttributed, 0);
const jobs = new Set(incidents.flatMap(({ id, workloads }) =>
workloads.map(({ workload }) =>
`${logOf(id)} ${objectName(workload)}`)));
const nodes = new Set(incidents.flatMap((incident) => incident.nodes.map(
(node) => `${logOf(incident.id)} ${node}`)));
const parts = [counted(incidents.length, 'incident')];
if (nodes.size > 0) parts.push(`on ${counted(nodes.size, 'node')}`);
if (logs.length > 1) parts.push(`in ${counted(logs.length, 'cluster')}`);
const hit = jobs.size === 0 ? '' : `; ${counted(jobs.size, 'job')} affected`;
const hours = lost === 0 ? '' : `, at least ${gpuHours(lost)} GPU-hours lost`;
return html`<h1 id="title">${parts.join(' ')}${hit}${hours}</h1>`;
}
function Answered({ page, fleet }) {
const { zone } = page.place;
const { incidents, logs } = fleet;
const isOld = logs.some(({ answer: { error, key, dataKey } }) =>
error !== '' || key !== dataKey);
return html`
<div class="shift ${isOld ? 'old' : ''}">
<${Facets} page=${page} facets=${FACETS} counts=${fleet.facets}>
<label>Group by ${' '}
<select value=${fleet.by} onChange=${(event) =>
page.go({ group: event.target.value })}>
${GROUPINGS.map((by) => html`<option key=${by} value=${by}>${
TRAITS[by]?.title.toLowerCase() ?? by}</option>`)}
</select></label>
<//>
<div class="what-happened">
<${Counts} page=${page} fleet=${fleet} />
<${Holes} logs=${logs} zone=${zone} />
${incidents.length === 0
? html`<${Nothing} page=${page} fleet=${fleet} />`
: html`<${Incidents} page=${page} fleet=${fleet} />`}
${page.hasOlder && html`
<button type="button" class="more" onClick=${() => page.older()}>
Older incidents</button>`}
${incidents.length > 0 && html`<${Sums} page=${page} fleet=${fleet} />`}
</div>
</div>
`;
}
function Counts({ page, fleet }) {
const { window, logs, incidents } = fleet;
if (window === null) return null;
const unseen = logs.flatMap(({ found }) => found?.histogram.gaps ?? []).map(
(gap) => ({
from: readInstant(gap.from ?? '') ?? window.from,
to: readInstant(gap.to ?? '') ?? window.to,
label: `gap: ${gap.resource ?? 'all resources'}`,
}));
return html`
<${Strip} window=${window} bars=${barsOf(fleet)} unseen=${unseen}
brush=${null} zone=${page.place.zone} noun="incident"
label="${counted(incidents.length, 'incident')} over time"
onRange=${(range) =>
page.go({ ...range, last: '' })} />
`;
}
function Filter({ page, fleet }) {
const { filter } = page.place;
const shown = fleet.incidents.length;
const isTold = filter !== '' || shown < fleet.count;
const text = isTold ? `${shown} of ${counted(fleet.count, 'incident')}` : '';
return html`
<div class="filter">
<input type="search" aria-label="Filter incidents" list="filter-words"
placeholder="Filter: hung-kernel, proven, node:gpu-002, job:llm …"
value=${filter} spellcheck="false"
onInput=${(event) =>
page.go({ filter: event.target.value }, { replace: true })} />
<datalist id="filter-words">
${FILTER_WORDS.map((word) => html`<option key=${word} value=${word} />`)}
</datalist>
<output>${text}</output>
</div>
`;
}
function Nothing({ page, fleet: { window, logs } }) {
const { zone, filter } = page.place;
const span = window === null
? 'in this log'
: `between ${dayAndClock(window.from, zone)} and
${dayAndClock(window.to, zone)}`;
const what = filter ? `No incidents match “${filter}”` : 'No incidents';
const isWhole = logs.every(({ found }) => found?.coverage.complete);
const unseen = isWhole
? '' : ' in what was recorded; the recording has gaps';
const near = ([
['before', 'Last before'], ['after', 'First after'],
]).flatMap(([side, says]) => logs.flatMap(({ found, known }) => {
const moment = found?.nearest?.[side];
if (!moment) return [];
const at = readInstant(moment.at) ?? 0;
return [{
href: page.href({ view: 'node', name: moment.node, entry: moment.entry,
from: at - 300_000, to: at + 300_000,
...(logs.length > 1 ? { log: known.log } : {}) }),
says: `${says}: ${dayAndClock(at, zone)}, ${moment.node}, ${moment.says}`,
}];
}));
return html`<${Empty} says="${what} ${span}${unseen}." links=${near} />`;
}
return { markdownOf, needsOf, fleetOf, Fleet };
})();
return { in_ask_offleet, in_fleet_columns, in_fleet_fleet, in_fleet_standing, in_fleet_sums, in_fleet_traits, in_needs_fleet, in_views_fleet, in_views_incidents, in_views_sums };
})();

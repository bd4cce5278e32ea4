let made;
export default ({ in_app, in_html, in_lighting, in_needs_node, in_time_clock, in_time_instant, in_timeline_arranging, in_timeline_lane, in_timeline_ofnode, in_timeline_timeline, in_views_states, in_views_strip, in_views_verdict, in_words_plain, in_words_workload }) => made ??= (() => {
const in_views_facts = (() => {
const { html } = in_html;
const { light } = in_lighting;
const { readInstant } = in_time_instant;
const { clock, zoneName } = in_time_clock;
const { counted, objectName, prose } = in_words_plain;
const FACTS_SHOWN = 500;
function Facts({ page, timeline }) {
const { place } = page;
const inWindow = page.factsInWindow;
const shown = inWindow.slice(0, FACTS_SHOWN);
const left = inWindow.length - shown.length + timeline.moreFacts;
return html`
<section id="facts" aria-labelledby="facts-title">
<h2 id="facts-title">Facts
<small>${counted(inWindow.length, 'fact')} in the window, in log
order</small></h2>
<div class="long">
<table class="facts stacked">
<thead><tr>
<th scope="col">${zoneName(place.zone, page.nodeWindow.from)}</th>
<th scope="col">Fact</th>
<th scope="col">Actor</th>
<th scope="col">Object</th>
<th scope="col">Entry</th>
</tr></thead>
<tbody>
${shown.map((fact, n) => html`
<${FactRow} key="${fact.entry} ${fact.index}" page=${page}
fact=${fact} isChosen=${page.ui.chosen === n}
isUnknown=${fact.kind === 'CLAIMED'
&& timeline.unknownTypes.includes(fact.type)} />
`)}
</tbody>
</table></div>
${left > 0 && html`<p class="note">${counted(left, 'fact')} more: zoom
in to see them.</p>`}
</section>
`;
}
function FactRow({ page, fact, isChosen, isUnknown }) {
const { zone, entry } = page.place;
const isOpen = isChosen || entry === fact.entry;
return html`
<tr class=${isOpen ? 'chosen' : ''} data-entries=${fact.entry}
onMouseEnter=${() => light(fact.entry)}
onMouseLeave=${() => light(null)}>
<td><time>${clock(readInstant(fact.at) ?? 0, zone)}</time></td>
<td class="whole"><span class="kind">${prose(fact.kind)}</span> ${fact.says}${
isUnknown ? ' (unknown type)' : ''}</td>
<td data-name=${fact.actor && 'by'}>${fact.actor ?? ''}</td>
<td>${fact.object && html`
<a href=${page.objectLink(fact.object)}>${objectName(fact.object)}</a>`}
</td>
<td><a class="code" href=${page.keep({ entry: fact.entry })}
>${fact.entry}</a></td>
</tr>
`;
}
return { Facts };
})();
const in_views_hits = (() => {
const { html } = in_html;
const { readInstant } = in_time_instant;
const { clock } = in_time_clock;
const { counted, gpuHours, prose } = in_words_plain;
const { partOf } = in_words_workload;
const { Figure } = in_views_states;
function Jobs({ page, impact }) {
const { totals, workloads } = impact;
const since = workloads.filter((hit) =>
hit.gpuHoursSinceCheckpoint !== null);
const work = since.reduce((sum, hit) =>
sum + hit.gpuHoursSinceCheckpoint, 0);
return html`
<section id="jobs" aria-labelledby="jobs-title">
<h2 id="jobs-title">Affected jobs</h2>
${workloads.length === 0
? html`<p class="quiet">No jobs were affected${impact.coverage.complete
? '' : ', as far as recorded'}.</p>`
: html`
<div class="figures">
<${Figure} value=${String(totals.workloads)}
says=${totals.workloads === 1 ? 'job' : 'jobs'} />
<${Figure} value=${String(totals.pods)}
says=${partsOf(workloads, totals.pods)} />
<${Figure} value=${String(totals.gpus)}
says=${totals.gpus === 1 ? 'GPU' : 'GPUs'} />
<${Figure} value="≥ ${gpuHours(totals.gpuHoursLost)}"
says=${since.length === 0
? 'GPU-hours, and the work since the last checkpoint, which is not known'
: `GPU-hours, and ${gpuHours(work)} since the last checkpoint`} />
</div>
<${Hits} page=${page} hits=${workloads} />`}
</section>
`;
}
const partsOf = (hits, count) => [...new Set(hits.map(({ workload }) =>
`${partOf(workload.kind)}${count === 1 ? '' : 's'}`))].sort().join(' or ');
function Hits({ page, hits }) {
const { zone } = page.place;
return html`
<table class="hits stacked">
<thead><tr>
<th scope="col">Disrupted at</th><th scope="col">Job</th>
<th scope="col">Outcome</th><th scope="col">Size</th>
<th scope="col">Running again</th><th scope="col">Lost</th>
<th scope="col">Evidence</th>
</tr></thead>
<tbody>
${hits.map((hit) => html`
<tr key="${hit.workload.uid} ${hit.hitAt}">
<td><time>${clock(readInstant(hit.hitAt) ?? 0, zone)}</time></td>
<td class="whole"><a href=${page.workloadLink(hit.workload)} title=${hit.says}
>${hit.workload.namespace}/${hit.workload.name}</a>
${' '}<span class="kind">${hit.workload.kind}</span></td>
<td class="whole">${prose(hit.outcome)} after ${prose(hit.hitBy)} on ${
hit.nodes.join(', ')}</td>
<td>${counted(hit.gangSize, partOf(hit.workload.kind))}, ${
counted(hit.gpus, 'GPU')}</td>
<td data-name="running again">${hit.runningAgainAt === null
? 'not yet'
: html`<time>${clock(readInstant(hit.runningAgainAt) ?? 0, zone)}
</time>`}</td>
<td data-name="lost">≥ ${gpuHours(hit.gpuHoursLost)} GPU-h${
hit.gpuHoursSinceCheckpoint !== null && html`
<small>and ${gpuHours(hit.gpuHoursSinceCheckpoint)} since its last
checkpoint</small>`}</td>
<td data-name="evidence">
${hit.evidence.map((entry) => html`
<a class="code" href=${page.keep({ entry })}>${entry}</a> `)}</td>
</tr>
`)}
</tbody>
</table>
`;
}
return { Jobs, Hits };
})();
const in_views_map = (() => {
const { html } = in_html;
const { readInstant } = in_time_instant;
const { Strip } = in_views_strip;
function NodeMap({ page }) {
const found = page.answers.of('map').data?.incidents ?? null;
const window = page.logWindow;
if (window === null) return html`<div class="strip waiting"></div>`;
const instants = (one) => ({
from: readInstant(one.from ?? '') ?? window.from,
to: readInstant(one.to ?? '') ?? window.to,
});
const bars = found?.histogram.steps.map((step) => ({
...instants(step), count: step.count,
})) ?? [];
const unseen = found?.histogram.gaps.map((gap) => ({
...instants(gap), label: `gap: ${gap.resource ?? 'all resources'}`,
})) ?? [];
return html`
<${Strip} window=${window} bars=${bars} unseen=${unseen}
brush=${page.nodeWindow} zone=${page.place.zone} noun="incident"
label="The whole recording of the node, with the window marked"
onRange=${(range) => page.go(range)} />
`;
}
return { NodeMap };
})();
const in_views_objects = (() => {
const { html } = in_html;
const { counted, objectName } = in_words_plain;
const OBJECTS_SHOWN = 60;
function Objects({ page, timeline }) {
const counts = new Map();
for (const { object } of timeline.facts) {
if (object === null) continue;
const name = objectName(object);
const known = counts.get(name) ?? { object, count: 0 };
known.count += 1;
counts.set(name, known);
}
const most = [...counts.entries()]
.sort(([, one], [, other]) => other.count - one.count);
const left = most.length - OBJECTS_SHOWN;
return html`
<section id="objects" aria-labelledby="objects-title">
<h2 id="objects-title">Objects</h2>
<ul class="objects long">
${most.slice(0, OBJECTS_SHOWN).map(([name, { object, count }]) => html`
<li key=${name}><a href=${page.objectLink(object)}>${name}</a>
${' '}<small>${counted(count, 'fact')}</small></li>
`)}
</ul>
${left > 0 && html`<p class="quiet">and ${counted(left, 'object')}
more: zoom in to see them.</p>`}
</section>
`;
}
return { Objects };
})();
const in_views_node = (() => {
const { Part } = in_app;
const { html } = in_html;
const { ofNode } = in_needs_node;
const { arranged } = in_timeline_arranging;
const { readied } = in_timeline_lane;
const { lanesOfNode } = in_timeline_ofnode;
const { Timeline } = in_timeline_timeline;
const { counted } = in_words_plain;
const { Facts } = in_views_facts;
const { Jobs } = in_views_hits;
const { NodeMap } = in_views_map;
const { Objects } = in_views_objects;
const { Coverage, Empty, Trouble, Waiting } = in_views_states;
const { Doubts, OtherVerdicts, VerdictCard } = in_views_verdict;
const needsOf = ofNode;
const PARTS = ([
['why', 'Why'], ['timeline', 'Timeline'], ['detail', 'Detail'],
['jobs', 'Jobs'], ['objects', 'Objects'], ['facts', 'Facts'],
]);
const lanesOf = ({ data: { timeline }, verdict, sources, end }) =>
timeline === null ? []
: lanesOfNode(timeline, verdict === null ? [] : [verdict], sources, end)
.map(readied);
function Node({ page }) {
const { place } = page;
const slot = place.from === null ? 'latest' : page.nodeSlot;
const answer = page.answers.of(slot);
const node = answer.data?.node ?? null;
const isOld =
node !== null && (answer.error !== '' || answer.key !== answer.dataKey);
return html`
<section class="node" aria-labelledby="title">
<div class="title">
<h1 id="title"><small>Node</small> ${place.name}</h1>
<nav aria-label="Parts of this page">
${PARTS.map(([id, name]) => html`
<a key=${id} href="#${id}">${name}</a>
`)}
</nav>
<div class="does">
<a class="button" href=${page.href({ view: 'compare',
name: place.name, from: place.from, to: place.to })}>Compare</a>
<button type="button" onClick=${() => page.copy()}>
Copy as Markdown</button>
<button type="button" onClick=${() => page.save()}>
Save as HTML</button>
</div>
</div>
<${Trouble} answer=${answer} zone=${place.zone}
onRetry=${() => page.answers.retry()} />
<section id="why" aria-label="Why" class=${isOld ? 'old' : ''}>
<${Why} page=${page} node=${node} hasFailed=${answer.error !== ''} />
</section>
${(node || !answer.isFinal) && html`
<section id="timeline" aria-label="Timeline">
<${NodeMap} page=${page} />
<${Lanes} page=${page} isOld=${isOld} />
</section>
`}
${node && html`
${page.kept.length > 0 && html`<${Part} page=${page} name="metrics" />`}
<${Detail} page=${page} />
<${Jobs} page=${page} impact=${node.impact} />
<${Objects} page=${page} timeline=${node.timeline} />
<${Facts} page=${page} timeline=${node.timeline} />
`}
</section>
`;
}
function Why({ page, node, hasFailed }) {
if (node === null) {
return hasFailed
? null
: html`<${Waiting} lines=${4} says="Loading verdicts" />`;
}
const { zone } = page.place;
const { coverage } = node.why;
const open = page.openVerdict;
return html`
<${Coverage} coverage=${coverage} zone=${zone} absent=${
open?.missing.map((one) => one.evidence)} />
${open === null
? html`<${Empty} says="No incidents recorded for ${page.place.name}
in this window${coverage.complete ? '' : ', which has gaps'}."
links=${page.nearestToNode()} />`
: html`<${VerdictCard} key=${open.id} page=${page} verdict=${open}
jobs=${page.hitsOf(open)} />`}
`;
}
function Detail({ page }) {
const open = page.openVerdict;
if (open === null) return null;
const others = page.verdicts.filter((one) => one !== open).reverse();
return html`
<section id="detail" aria-label="Detail">
<h2>How sure this is</h2>
<${Doubts} page=${page} verdict=${open} />
<${OtherVerdicts} page=${page} verdicts=${others}
title="Also in this window" noun="incident" />
</section>
`;
}
function Lanes({ page, isOld }) {
const { place } = page;
const window = page.nodeWindow;
const { shown, folded } = arranged(page.lanes, place, window);
const summary = page.lanes.length === 0
? 'Loading lanes'
: `${counted(shown.length, 'lane')} of ${page.lanes.length}`;
return html`
<div class="lanes-about" role="status">${summary}</div>
<${Timeline} lanes=${shown} folded=${folded} pinned=${place.pinned}
window=${window} zone=${place.zone} chosen=${place.entry || null}
isOld=${isOld}
onWindow=${(moved) => page.go(moved, { replace: true })}
onOpen=${(entry) => page.go({ entry })}
onLane=${(does, id) =>
page.lane(does, id, shown)} />
`;
}
return { needsOf, lanesOf, Node };
})();
return { in_views_facts, in_views_hits, in_views_map, in_views_node, in_views_objects };
})();

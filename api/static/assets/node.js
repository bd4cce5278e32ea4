let made;
export default ({ in_html, in_lighting, in_time_clock, in_time_instant, in_timeline_arranging, in_timeline_lane, in_timeline_ofnode, in_timeline_timeline, in_views_jobs, in_views_states, in_views_strip, in_words_incident, in_words_plain }) => made ??= (() => {
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
fact=${fact} isChosen=${page.ui.chosen === n} />
`)}
</tbody>
</table></div>
${left > 0 && html`<p class="note">${counted(left, 'fact')} more: zoom
in to see them.</p>`}
</section>
`;
}
function FactRow({ page, fact, isChosen }) {
const { zone, entry } = page.place;
const isOpen = isChosen || entry === fact.entry;
return html`
<tr class=${isOpen ? 'chosen' : ''} data-entries=${fact.entry}
onMouseEnter=${() => light(fact.entry)}
onMouseLeave=${() => light(null)}>
<td><time>${clock(readInstant(fact.at) ?? 0, zone)}</time></td>
<td class="whole"><span class="kind">${prose(fact.kind)}</span> ${fact.says}</td>
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
const in_views_verdict = (() => {
const { html } = in_html;
const { light } = in_lighting;
const { readInstant } = in_time_instant;
const { clock, day, zoneName } = in_time_clock;
const { lasts } = in_words_incident;
const { counted, prose, term } = in_words_plain;
const STEPS_WITH_KEYS = 9;
function VerdictCard({ page, verdict }) {
const at = readInstant(verdict.at) ?? 0;
return html`
<article class="verdict open" id="verdict-${verdict.id}">
<header>
<p class="sentence">${verdict.sentence}</p>
<${Sure} verdict=${verdict} />
</header>
<dl class="about">
${aboutOf(verdict).map(([name, says]) => html`
<div key=${name}><dt>${name}</dt><dd>${says}</dd></div>`)}
<div><dt>Times</dt><dd>${day(at, page.place.zone)},
${' '}${zoneName(page.place.zone, at)}</dd></div>
</dl>
<${Path} page=${page} verdict=${verdict} />
</article>
`;
}
function OtherVerdicts({ page, verdicts }) {
if (verdicts.length === 0) return null;
return html`
<section class="others" aria-labelledby="others-title">
<h2 id="others-title">Also in this window
<small>${counted(verdicts.length, 'incident')}</small></h2>
${verdicts.map((verdict) => html`
<article class="verdict" key=${verdict.id}>
<a href=${page.keep({ verdict: verdict.id, entry: '' })}>
<span class="sentence">${verdict.sentence}</span>
<${Sure} verdict=${verdict} /></a>
</article>`)}
</section>
`;
}
function Sure({ verdict }) {
const sure = prose(verdict.confidence);
return html`<span class="sure ${sure}" title=${SURE[sure]}>${sure}</span>`;
}
const SURE = {
proven: 'the evidence rules out other causes',
likely: 'other causes are less likely',
possible: 'other causes are not ruled out',
unknown: 'nothing recorded explains it',
};
const MODE = {
PLANNED: 'planned, by a decision before it',
ABRUPT: 'abrupt, without a decision',
UNKNOWN: 'not recorded whether planned',
};
function aboutOf(verdict) {
const { mode, cause, decision, bootIdAfter } = verdict;
return [
['Mode', MODE[mode]],
['Cause', term(cause)],
...downRows(verdict),
['Out of service', awayWords(verdict)],
...(decision === null ? [] : [['Decided by', deciderWords(decision)]]),
...(bootIdAfter === null ? [] : [['Boot ID', bootWords(verdict)]]),
];
}
const downRows = ({ downSeconds }) =>
downSeconds === null ? [] : [['Down', lasts(downSeconds, true)]];
function awayWords({ backInServiceAt, awaySeconds, duration }) {
if (backInServiceAt === null) return 'not back in service';
if (awaySeconds === null) return 'never';
return lasts(awaySeconds, duration?.kind === 'AWAY' && duration.atMost);
}
function deciderWords({ actor, carriedOutBy, class: what }) {
const name = actor.name ?? 'unknown';
const tool = actor.tool ? ` using ${actor.tool}` : '';
const by = carriedOutBy?.name ? `, carried out by ${carriedOutBy.name}` : '';
return `${name}${tool} (${term(what)})${by}`;
}
function bootWords({ bootIdBefore, bootIdAfter }) {
return `${shortId(bootIdBefore)} → ${shortId(bootIdAfter)}`;
}
const shortId = (id) => (id === null ? 'unknown' : id.slice(0, 8));
function Path({ page, verdict }) {
const { zone, entry: open } = page.place;
return html`
<ol class="chain" aria-label="Steps, in order">
${verdict.steps.map((step, n) => {
const [entry] = step.entries;
return html`
<li key=${n} data-entries=${step.entries.join(' ')}
class="${step.role.toLowerCase()} ${
step.entries.includes(open) ? 'chosen' : ''}"
onMouseEnter=${() => light(entry)}
onMouseLeave=${() => light(null)}>
<a href=${page.keep({ entry })} title=${step.says}
aria-keyshortcuts=${n < STEPS_WITH_KEYS ? String(n + 1) : null}>
<span class="step">${n + 1}</span>
<span class="role">${prose(step.role)}</span>
<time>${clock(readInstant(step.at) ?? 0, zone)}</time>
<span class="says">${step.says}${byWords(step.actor)}</span>
<span class="code">${entry}</span>
</a>
<${Records} page=${page} signs=${signsOf(verdict, step.entries)} />
</li>
`;
})}
</ol>
`;
}
function byWords(actor) {
if (actor === null) return '';
const name = actor.name ?? (actor.tool && `someone using ${actor.tool}`);
return name ? `, by ${name}` : '';
}
function signsOf(verdict, [first, ...others]) {
return verdict.evidence.filter(({ entry }) =>
entry !== first && others.includes(entry));
}
function signsBeside({ steps, evidence }) {
const shown = new Set(steps.flatMap((one) => one.entries));
return evidence.filter((sign) => !shown.has(sign.entry));
}
function Records({ page, signs }) {
if (signs.length === 0) return null;
const { zone } = page.place;
return html`
<details class="records">
<summary>${counted(signs.length, 'more record')}</summary>
<ul>
${signs.map((sign, n) => html`
<li key="${sign.entry} ${n}">
<a href=${page.keep({ entry: sign.entry })}>
<time>${clock(readInstant(sign.at) ?? 0, zone)}</time>
<span class="says">${sign.says}</span>
<span class="code">${sign.entry}</span>
</a>
</li>
`)}
</ul>
</details>
`;
}
function Doubts({ page, verdict }) {
const { rivals, missing, contradictions, gaps, evidenceLeftOut } = verdict;
return html`
<${Records} page=${page} signs=${signsBeside(verdict)} />
<div class="doubts">
<${Part} title="Other causes considered" items=${rivals.map(
(rival) => html`
<span class="tag">${rival.excluded ? 'excluded' : 'possible'}</span>${' '}
<b>${rival.cause}</b>: ${rival.because}`,
)} />
<${Part} title="Sources not recorded" items=${missing.map(
(one) => html`
<b>${one.evidence}</b> would show
${' '}${one.wouldTell}`,
)} />
<${Part} title="Gaps that affect this verdict" items=${gaps.map(
(gap) => html`
<a href=${page.keep({ entry: gap })}>${gap}</a>`,
)} />
<${Part} title="Evidence not shown" items=${evidenceLeftOut > 0
? [html`${evidenceLeftOut} more records`] : []} />
<${Part} title="Conflicting records" items=${contradictions.map(
(one) => html`
${one.says}, but ${one.but}
${' '}<a href=${page.keep({ entry: one.entry })}>${one.entry}</a>`,
)} />
</div>
`;
}
function Part({ title, items }) {
if (items.length === 0) return null;
return html`
<section>
<h3>${title}</h3>
<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>
</section>
`;
}
return { VerdictCard, OtherVerdicts, Doubts };
})();
const in_views_node = (() => {
const { html } = in_html;
const { arranged } = in_timeline_arranging;
const { readied } = in_timeline_lane;
const { lanesOfNode } = in_timeline_ofnode;
const { Timeline } = in_timeline_timeline;
const { counted } = in_words_plain;
const { Facts } = in_views_facts;
const { Jobs } = in_views_jobs;
const { NodeMap } = in_views_map;
const { Objects } = in_views_objects;
const { Coverage, Empty, Trouble, Waiting } = in_views_states;
const { Doubts, OtherVerdicts, VerdictCard } = in_views_verdict;
const PARTS = ([
['why', 'Why'], ['timeline', 'Timeline'], ['detail', 'Detail'],
['jobs', 'Jobs'], ['objects', 'Objects'], ['facts', 'Facts'],
]);
const lanesOf = ({ data: { timeline }, verdict, sources }) =>
timeline === null ? []
: lanesOfNode(timeline, verdict === null ? [] : [verdict], sources)
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
<section id="timeline" aria-label="Timeline">
<${NodeMap} page=${page} />
<${Lanes} page=${page} isOld=${isOld} />
</section>
${node && html`
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
: html`<${VerdictCard} key=${open.id} page=${page} verdict=${open} />`}
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
<${OtherVerdicts} page=${page} verdicts=${others} />
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
return { lanesOf, Node };
})();
return { in_views_facts, in_views_map, in_views_node, in_views_objects, in_views_verdict };
})();

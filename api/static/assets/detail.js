export default ({ in_html, in_time_asked, in_time_clock, in_time_instant, in_timeline_arranging, in_timeline_lane, in_timeline_ofnode, in_timeline_timeline, in_views_jobs, in_views_overlays, in_views_states, in_words_filter, in_words_plain, in_words_recording, in_words_workload }) => {
const in_timeline_pairing = (() => {
function shifted(lane, by) {
if (by === 0) return lane;
const moved = (span) =>
({ ...span, from: span.from + by, to: span.to + by });
return {
...lane,
spans: lane.spans.map(moved),
unseen: lane.unseen.map(moved),
marks: lane.marks.map((mark) => ({ ...mark, at: mark.at + by })),
};
}
function paired(left, right, names) {
const others = new Map(right.map((lane) => [lane.id, shifted(lane, names.by)]));
const lanes = left.flatMap((lane) => {
const other = others.get(lane.id);
others.delete(lane.id);
return [named(lane, 'a', names.left), ...(other
? [named(other, 'b', names.right)] : [])];
});
return [...lanes, ...[...others.values()].map(
(lane) => named(lane, 'b', names.right))];
}
const named = (lane, side, name) =>
({ ...lane, id: `${side} ${lane.id}`, title: `${name} ${lane.title}` });
return { shifted, paired };
})();
const in_views_sources = (() => {
const { html } = in_html;
const { readInstant } = in_time_instant;
const { dayAndClock, span } = in_time_clock;
const { counted, prose, rounded, size } = in_words_plain;
const { clusterOf, recordingOf } = in_words_recording;
const { Figure, Trouble, Waiting } = in_views_states;
const MEANS = {
LIVE: 'watching, confirmed complete',
LISTING: 'listing, or waiting to list',
BACKING_OFF: 'failed, retrying with backoff',
FORBIDDEN: 'missing permissions or valid credentials',
ABSENT: 'not served by the cluster',
STOPPED: 'not being recorded',
};
const AUDIT = {
RECORDED: 'audit records',
SILENT: 'audit records; none are arriving',
STOPPED: 'audit records; they are not being read',
ABSENT: 'audit records: the audit log is not recorded',
};
function Sources({ page }) {
const answer = page.answers.of('sources');
const status = answer.data?.status ?? null;
const cluster = clusterOf(status, page.place);
return html`
<section class="sources" aria-labelledby="title">
<div class="title"><h1 id="title">Sources</h1></div>
<${Trouble} answer=${answer} zone=${page.place.zone}
onRetry=${() => page.answers.retry()} />
${cluster === null
? answer.error === '' && html`<${Waiting} lines=${6}
says="Loading sources" />`
: html`
<${Log} page=${page} status=${status} cluster=${cluster} />
<${Streams} page=${page} sources=${cluster.sources} />
<${Gaps} page=${page} />`}
</section>
`;
}
function Log({ page, status, cluster }) {
const { audit, log } = cluster;
const { database } = status;
const { says } = recordingOf(status, cluster, page.place.zone);
return html`
<p class="sentence">${cluster.name}, Kubernetes ${cluster.kubernetes}:
${' '}${says}.</p>
<ul class="quiet">${[...cluster.coverage.says, ...audit.says].map(
(line) => html`<li>${line}</li>`)}</ul>
<div class="figures">
${database.bytes > 0 && html`
<${Figure} value=${Number(log.size).toLocaleString('en')}
says="entries in log ${log.id}" />
<${Figure} value=${rounded(log.entriesPerMinute)}
says="entries per minute" />
<${Figure} value=${audit.records.toLocaleString('en')}
says=${AUDIT[audit.state]} />
<${Figure} value=${size(database.bytes)} says="in PostgreSQL
${' '}${database.version}${database.diskFreeBytes === null ? ''
: `, ${size(database.diskFreeBytes)} free`}" />`}
<${Figure} value=${String(cluster.openGaps.length)} says="open gaps" />
</div>
`;
}
function Streams({ page, sources }) {
const { zone } = page.place;
return html`
<h2>Recorded resources</h2>
<table class="streams stacked">
<thead><tr><th scope="col">Resource</th><th scope="col">State</th>
<th scope="col">Complete until</th><th scope="col">Lag</th>
<th scope="col" class="number">Entries</th></tr></thead>
<tbody>${sources.map((one) => {
const until = readInstant(one.vouchedUntil ?? '');
return html`
<tr key="${one.source} ${one.resource}">
<td class="whole">${one.resource}
${' '}<span class="kind">${prose(one.source)}</span></td>
<td><span class="state ${prose(one.state).replace(' ', '-')}"
title=${MEANS[one.state]}>${prose(one.state)}</span>${
behind(one, zone)}</td>
<td data-name="until">${until === null ? 'never'
: dayAndClock(until, zone)}</td>
<td data-name="lag">${one.lagSeconds === null ? 'n/a (tape)'
: span(one.lagSeconds * 1000)}</td>
<td class="number" data-name="entries"
>${one.entries.toLocaleString('en')}</td>
</tr>`;
})}</tbody>
</table>
`;
}
function behind({ state, vouchedUntil, gap }, zone) {
if (gap === null && state !== 'LISTING' && state !== 'BACKING_OFF') return '';
const since = readInstant((gap === null ? vouchedUntil : gap.from) ?? '');
return html` <span class="quiet">behind${since === null ? ''
: ` since ${dayAndClock(since, zone)}`}${gap === null ? ''
: `: ${gap.reason}`}</span>`;
}
function Gaps({ page }) {
const answer = page.answers.of('gaps');
const found = answer.data?.gaps ?? null;
const gaps = [...(found?.gaps ?? [])].reverse();
return html`
<h2>Gaps</h2>
<${Trouble} answer=${answer} zone=${page.place.zone}
onRetry=${() => page.answers.retry()} />
${found && gaps.length === 0 && html`<p class="note complete">No gaps:
the recording is complete.</p>`}
${gaps.length > 0 && html`
<table class="gaps stacked">
<thead><tr><th scope="col">Resource</th><th scope="col">From</th>
<th scope="col">Until</th><th scope="col">Reason</th>
<th scope="col">May be missing</th></tr></thead>
<tbody>${gaps.map((gap) => html`
<${GapRow} page=${page} gap=${gap} />`)}</tbody>
</table>
${found.more > 0 && html`<p class="quiet">and
${' '}${counted(found.more, 'older gap')}.</p>`}`}
`;
}
function GapRow({ page, gap }) {
const { zone } = page.place;
const from = readInstant(gap.from ?? '');
const to = readInstant(gap.to ?? '');
return html`
<tr class=${gap.healed ? 'healed' : ''}>
<td class="whole"><span class="swatch" aria-hidden="true"></span>
${' '}${gap.resource ?? 'all resources'}
${' '}${gap.id && html`<a class="code"
href=${page.keep({ entry: gap.id })}>${gap.id}</a>`}</td>
<td data-name="from">${from === null ? 'the beginning'
: dayAndClock(from, zone)}</td>
<td data-name="until">${to === null ? 'still open' : dayAndClock(to, zone)}</td>
<td class="whole">${gap.reason}. ${gap.proved && `Proved: ${gap.proved}.`}</td>
<td class="whole" data-name="may be missing:">${gap.healed
? 'nothing (healed)' : gap.possible.join(', ')}</td>
</tr>
`;
}
return { Sources };
})();
const in_views_workload = (() => {
const { html } = in_html;
const { readInstant } = in_time_instant;
const { dayAndClock } = in_time_clock;
const { Timeline } = in_timeline_timeline;
const { counted, rounded } = in_words_plain;
const { sentenceOf } = in_words_workload;
const { Hits } = in_views_jobs;
const { Coverage, Empty, Figure, Trouble, Waiting } = in_views_states;
function Workload({ page }) {
const { place } = page;
const answer = page.answers.of('workload');
const story = answer.data?.workload ?? null;
const isOld =
story !== null && (answer.error !== '' || answer.key !== answer.dataKey);
return html`
<section class="workload" aria-labelledby="title">
<div class="title">
<h1 id="title"><small>${place.kind}</small>
${' '}${place.namespace}/${place.name}</h1>
</div>
<${Trouble} answer=${answer} zone=${place.zone}
onRetry=${() => page.answers.retry()} />
${story === null
? answer.error === '' && html`<${Waiting} lines=${6}
says="Loading Pods" />`
: html`<${Story} page=${page} story=${story} isOld=${isOld} />`}
</section>
`;
}
function Story({ page, story, isOld }) {
const { place } = page;
const { zone } = place;
const lost = story.hits.reduce(
(sum, hit) =>
sum + hit.gpuHoursLost, 0);
const full = readInstant(story.ranInFullAt ?? '');
const what = story.isGang ? 'all Pods required' : 'Pods run independently';
return html`
<div class=${isOld ? 'old' : ''}>
<p class="sentence">${sentenceOf(story)}</p>
<${Coverage} coverage=${story.coverage} zone=${zone} />
<div class="figures">
<${Figure} value=${String(story.gpus)} says="GPUs, ${what}" />
<${Figure} value=${String(story.nodes.length)}
says=${story.nodes.length === 1 ? 'node' : 'nodes'} />
<${Figure} value="≥ ${rounded(lost)}" says="GPU-hours lost, plus
any work since the last checkpoint (not recorded)" />
<${Figure} value=${full === null ? 'never'
: dayAndClock(full, zone)} says="first ran in full" />
</div>
<h2>Pods by node</h2>
${page.lanes.length === 0
? html`<${Empty} says="No Pods recorded in this window."
links=${[]} />`
: html`<${Timeline} lanes=${page.lanes} folded=${[]}
pinned=${place.pinned} window=${page.workloadWindow} zone=${zone}
chosen=${place.entry || null} isOld=${isOld}
onWindow=${(to) => page.go(to, { replace: true })}
onOpen=${(entry) => page.go({ entry })}
onLane=${(does, id) =>
page.lane(does, id, page.lanes)} />`}
<h2>Disruptions</h2>
${story.hits.length === 0
? html`<p class="quiet">No disruptions recorded.</p>`
: html`<${Hits} page=${page} hits=${story.hits} />
<${Verdicts} page=${page} hits=${story.hits} />`}
<h2>Pods</h2>
<${Pods} page=${page} placements=${story.placements} />
</div>
`;
}
function Verdicts({ page, hits }) {
const links = new Map(hits.map((hit) => [hit.firstNode, hit]));
return html`
<p>Why: ${[...links].map(([node, hit]) => {
const at = readInstant(hit.hitAt) ?? 0;
const href = page.href({
view: 'node', name: node, from: at - 600_000, to: at + 600_000,
});
return html`<a key=${node} href=${href}>what happened to ${node}</a> `;
})}</p>
`;
}
function Pods({ page, placements }) {
const { zone } = page.place;
const when = (text) => {
const at = readInstant(text ?? '');
return at === null ? '' : html`<time>${dayAndClock(at, zone)}</time>`;
};
return html`
<p class="quiet">${counted(placements.length, 'Pod')}, in order of
binding.</p>
<table class="pods stacked">
<thead><tr><th scope="col">Pod</th><th scope="col">Node</th>
<th scope="col">Bound</th><th scope="col">Ran</th>
<th scope="col">Ended</th><th scope="col">How</th></tr></thead>
<tbody>${placements.map((one) => html`
<tr key="${one.uid} ${one.boundAt}">
<td class="whole"><a href=${page.objectLink({ kind: 'Pod',
namespace: one.namespace, name: one.pod })}>${one.pod}</a></td>
<td data-name="on">${one.node && html`<a href=${page.href({ view: 'node',
name: one.node })}>${one.node}</a>`}</td>
<td data-name=${one.boundAt && 'bound'}>${when(one.boundAt)}</td>
<td data-name=${one.runningAt && 'ran'}>${when(one.runningAt)}</td>
<td data-name=${one.endedAt && 'ended'}>${when(one.endedAt)}</td>
<td>${[one.phase, one.disruption, ...one.exitCodes.map(
(code) => `exit ${code}`)]
.filter(Boolean).join(', ')}</td>
</tr>`)}</tbody>
</table>
`;
}
return { Workload };
})();
const in_words_author = (() => {
function authorName(author) {
if (author.knownBy === 'UNKNOWN') return 'unknown';
const who = author.name ?? 'someone';
const asked = author.onBehalfOf ? ` as ${author.onBehalfOf}` : '';
const beside = [
author.client,
author.pod && `pod/${author.pod}`,
author.address && `from ${author.address}`,
].filter(Boolean).join(', ');
return `${who}${asked}${beside && ` (${beside})`}`;
}
const KNOWN = {
AUDIT: 'audit record',
MANAGED_FIELDS: 'managedFields',
UNKNOWN: 'nothing',
};
const knownBy = (author) => KNOWN[author.knownBy] ?? '';
return { authorName, knownBy };
})();
const in_words_copying = (() => {
const { writeShort } = in_time_instant;
const { readFilter } = in_words_filter;
const { term } = in_words_plain;
const PLAIN = /^[\w./:@%+=,-]+$/;
const quoted = (word) =>
PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
function commandOf(place, { log, verdict }) {
const words = ['recorder', ...(place.entry
? ['log', place.entry, '--raw'] : askedBy(place, verdict))];
if (!place.entry) words.push('--log', log);
return words.map(quoted).join(' ');
}
function askedBy(place, verdict) {
const { view, kind, namespace, name } = place;
const object = [kind, namespace, name].filter(Boolean).join('/');
const window = windowOf(place);
if (view === 'node' && verdict) return ['why', `node/${name}`, '--at', verdict.at];
if (view === 'node' || view === 'compare') {
return ['why', `node/${name}`, ...window];
}
if (view === 'object') return ['history', object];
if (view === 'workload') return ['why', object];
if (view === 'sources') return ['status'];
return ['incidents', ...window, ...filterOf(place)];
}
function windowOf({ from, to, last }) {
if (from !== null && to !== null) {
return ['--since', writeShort(from), '--until', writeShort(to)];
}
return last && last !== 'all' ? ['--since', last] : [];
}
function filterOf({ filter }) {
const { variables } = readFilter(filter);
const flags = { causes: 'cause', happened: 'happened', confidence: 'confidence' };
const words = Object.entries(flags).flatMap(([name, flag]) =>
((variables)[name] ?? []).flatMap(
(word) => [`--${flag}`, term(word)]));
for (const name of ['node', 'workload']) {
const value = (variables)[name];
if (value) words.push(`--${name}`, value);
}
return words;
}
function queryOf(needs) {
const own = needs.filter(({ slot, isAside }) =>
!isAside && slot !== 'overview');
const need = own.find(({ slot }) => slot === 'entry') ?? own[0];
if (need === undefined) return '';
const variables = JSON.stringify(need.variables, null, 2)
.split('\n').map((line) => `# ${line}`).join('\n');
return `${need.query}\n\n# variables:\n${variables}\n`;
}
function fieldsOf(place, { log, cluster, verdict, window }) {
const { view, kind, namespace, name, entry } = place;
const isNode = view === 'node' || view === 'compare';
const isObject = view === 'object' || view === 'workload';
const all = {
log, cluster, entry, node: isNode ? name : '',
name: isNode || isObject ? name : '',
kind: isObject ? kind : '', namespace: isObject ? namespace : '',
cause: verdict ? term(verdict.cause) : '', verdict: verdict?.id ?? '',
sentence: verdict?.sentence ?? '',
...(window && {
from: writeShort(window.from), to: writeShort(window.to),
from_ms: String(Math.round(window.from)),
to_ms: String(Math.round(window.to)),
}),
};
return Object.fromEntries(
Object.entries(all).filter(([, value]) => value !== ''));
}
function linkOf(url, fields) {
const names = [...url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
if (!/^https?:\/\//.test(url)) return null;
if (names.some((name) => fields[name] === undefined)) return null;
return url.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(fields[name]));
}
return { commandOf, queryOf, fieldsOf, linkOf };
})();
const in_views_compare = (() => {
const { html } = in_html;
const { readAsked } = in_time_asked;
const { readInstant } = in_time_instant;
const { dayAndClock, difference } = in_time_clock;
const { arranged } = in_timeline_arranging;
const { readied } = in_timeline_lane;
const { lanesOfNode } = in_timeline_ofnode;
const { paired } = in_timeline_pairing;
const { Timeline } = in_timeline_timeline;
const { Coverage, Empty, Trouble, Waiting } = in_views_states;
function Compare({ page }) {
const { place } = page;
const { name, zone, shift } = place;
const other = place.other || name;
const answers = [page.answers.of(page.nodeSlot), page.answers.of('compared')];
const nodes = answers.map(({ data }) => data?.node ?? null);
const failed = answers.filter(({ error }) => error !== '');
const about = shift === 0 ? '' : `, ${difference(shift)} from it`;
return html`
<section class="compare" aria-labelledby="title">
<div class="title"><h1 id="title"><small>Compare</small> ${name}
<small> with </small> ${other}<small>${about}</small></h1></div>
<${Others} page=${page} other=${other} />
${failed.map((answer) => html`<${Trouble} answer=${answer} zone=${zone}
onRetry=${() => page.answers.retry()} />`)}
${nodes.some((node) => node === null)
? failed.length === 0 && html`<${Waiting} lines=${6}
says="Loading both" />`
: html`<${Both} page=${page} nodes=${nodes} other=${other} />`}
</section>
`;
}
function Both({ page, nodes: [left, right], other }) {
const { place } = page;
const { name, zone, shift } = place;
const lanes = (node) => lanesOfNode(
node.timeline, node.why.verdicts.slice(-1), page.sources);
const isSame = other === name;
const together = paired(lanes(left), lanes(right), {
left: isSame ? '①' : name, right: isSame ? '②' : other, by: -shift,
}).map(readied);
const window = page.nodeWindow;
const { shown, folded } = arranged(together, place, window);
const moved = (to) => page.go(to, { replace: true });
return html`
${[[left, window.from], [right, window.from + shift]].map(([node, from], n) => html`
<p key=${n} class="side"><b>${isSame ? '①②'[n] : node.name}</b>
${' '}from ${dayAndClock(from, zone)}:
${' '}${node.why.verdicts.at(-1)?.sentence ?? 'no incidents'}</p>
${!node.why.coverage.complete
&& html`<${Coverage} coverage=${node.why.coverage} zone=${zone} />`}`)}
${shown.length === 0
? html`<${Empty} says="Nothing recorded of both in this window."
links=${[]} />`
: html`<${Timeline} lanes=${shown} folded=${folded} pinned=${place.pinned}
window=${window} zone=${zone} chosen=${place.entry || null}
isOld=${false} onWindow=${moved}
onOpen=${(entry) => page.go({ entry })}
onLane=${(does, id) =>
page.lane(does, id, shown)} />`}
`;
}
function Others({ page, other }) {
const { place } = page;
const { name, from } = place;
const node = page.answers.of(page.nodeSlot).data?.node;
const gang = new Set((node?.impact.workloads ?? []).flatMap(
(hit) => hit.nodes));
const incidents = page.answers.of('comparable').data?.incidents?.nodes ?? [];
return html`
<form class="others-of" onSubmit=${(event) => {
event.preventDefault();
const { node: named, time } = event.target.elements;
const near = page.nodeWindow.from;
const at = readAsked(time.value, { now: page.now(), near, zone: place.zone });
const shift = at === null ? place.shift : at - near;
page.go({ other: named.value.trim(), shift });
}}>
<label>Node <input name="node" autocomplete="off" value=${other} /></label>
<label>from <input name="time" autocomplete="off"
placeholder="the same time" /></label>
<button type="submit">Compare</button>
</form>
<p class="suggested">
${[...gang].filter((one) => one !== name).map((one) => html`
<a key=${one} href=${page.keep({ other: one, shift: 0 })}
>${one}, of the same gang</a> `)}
${incidents.map((one) => {
const at = readInstant(one.from) ?? 0;
const began = readInstant(node?.why.verdicts.at(-1)?.beganAt ?? '') ?? from;
if (began === null || at === began) return null;
return html`<a key=${one.id} href=${page.keep({ other: '',
shift: at - began })}>${name} at ${dayAndClock(at, place.zone)}</a> `;
})}
</p>
`;
}
return { Compare };
})();
const in_views_evidence = (() => {
const { html } = in_html;
const { readInstant } = in_time_instant;
const { dayAndClock, exactClock } = in_time_clock;
const { authorName } = in_words_author;
const { objectName, prose, valueText } = in_words_plain;
const { Trouble, Waiting } = in_views_states;
const RAW_SHOWN = 200_000;
function Evidence({ page }) {
const { place } = page;
if (place.entry === '') return null;
const answer = page.answers.of('entry');
const detail = answer.data?.entry ?? null;
return html`
<aside class="evidence" aria-labelledby="evidence-title">
<header>
<h2 id="evidence-title">Entry <span class="code">${place.entry}</span></h2>
<button type="button" onClick=${() => page.copyText(place.entry)}>
Copy name</button>
<button type="button" class="close" aria-label="Close the entry"
onClick=${() => page.go({ entry: '' })}>✕</button>
</header>
<${Trouble} answer=${answer} zone=${place.zone}
onRetry=${() => page.answers.retry()} />
${detail === null
? answer.error === '' && html`<${Waiting} lines=${5}
says="Opening the entry" />`
: html`<${Opened} page=${page} detail=${detail}
isOld=${answer.key !== answer.dataKey} />`}
</aside>
`;
}
function Opened({ page, detail, isOld }) {
const { entry, facts } = detail;
const says = facts.length > 0
? facts.map((fact) => fact.says)
: [entry.says || prose(entry.operation)];
return html`
<div class=${isOld ? 'old' : ''}>
${says.map((line) => html`<p class="says">${line}</p>`)}
${entry.object && html`<p>
<a href=${page.objectLink(entry.object)}>${objectName(entry.object)}</a>
${' '}<span class="kind">${prose(entry.operation)}</span></p>`}
<${Clocks} page=${page} entry=${entry} />
<${Who} detail=${detail} />
<${Changes} changed=${detail.changed} previous=${detail.previous}
page=${page} />
<${Raw} detail=${detail} />
</div>
`;
}
function Clocks({ page, entry }) {
const { zone } = page.place;
const clocks = [
['occurred', entry.occurredAt, 'cluster clock'],
['observed', entry.observedAt, 'recorder clock, on receipt'],
['recorded', entry.recordedAt, 'database clock, on commit'],
];
return html`
<h3>Timestamps</h3>
<dl class="clocks">
${clocks.map(([name, text, means]) => {
const at = readInstant(text ?? '');
return html`
<dt title=${means}>${name}</dt>
<dd title=${text ?? ''}>${at === null
? html`<span class="quiet">no source reports it</span>`
: html`<time datetime=${text}>${dayAndClock(at, zone)
.replace(/\d\d:\d\d:\d\d/, exactClock(at, zone))}</time>`}</dd>
`;
})}
<dt>entry</dt><dd class="code">${entry.name}, ${entry.source
.toLowerCase()} ${entry.resource ?? ''}
${entry.resourceVersion ? `, version ${entry.resourceVersion}` : ''}</dd>
</dl>
`;
}
function Who({ detail }) {
const { entry, writers, facts, author } = detail;
const asked = facts.find((fact) => fact.kind === 'REQUESTED');
const known = [
...(author?.knownBy === 'AUDIT'
? [[authorName(author), `audit entry ${author.entry}`]] : []),
...(asked?.actor ? [[asked.actor, 'from the audit log']] : []),
...(entry.actor ? [[entry.actor, 'reported the Event']] : []),
...writers.map((writer) => [
writer.name,
`field manager${writer.subresource ? ` of ${writer.subresource}` : ''}`,
]),
];
return html`
<h3>Actor</h3>
${known.length === 0
? html`<p class="quiet">This entry does not identify an actor.</p>`
: html`<ul>${known.map(([name, how]) => html`
<li><b>${name}</b> <span class="quiet">${how}</span></li>`)}</ul>`}
`;
}
function Changes({ changed, previous, page }) {
const before = previous && html`since
${' '}<a class="code" href=${page.keep({ entry: previous.name })}
>${previous.name}</a>`;
return html`
<h3>Changes ${before}</h3>
${changed.length === 0
? html`<p class="quiet">${previous
? 'No significant changes.'
: 'The log has no earlier version.'}</p>`
: html`<ul class="changes">${changed.map((change) => html`
<li>
<code class="path">${change.path}</code>
${change.old !== null && html`
<del><span class="hidden">before: </span
>${valueText(change.old)}</del>`}
${change.new !== null && html`
<ins><span class="hidden">after: </span
>${valueText(change.new)}</ins>`}
</li>`)}</ul>`}
`;
}
function Raw({ detail }) {
const { document, raw } = detail;
const text = document === null ? raw : JSON.stringify(document, null, 2);
const shown = text.slice(0, RAW_SHOWN);
return html`
<details class="raw">
<summary>Recorded document</summary>
<pre tabindex="0">${shown}</pre>
${text.length > shown.length && html`<p class="note">The first
${RAW_SHOWN.toLocaleString('en')} characters of
${text.length.toLocaleString('en')}.</p>`}
</details>
`;
}
return { Evidence, Changes };
})();
const in_views_who = (() => {
const { html } = in_html;
const { readInstant } = in_time_instant;
const { clock, dayAndClock, zoneName } = in_time_clock;
const { authorName, knownBy } = in_words_author;
const { Trouble } = in_views_states;
function Who({ page }) {
const answer = page.answers.of('who');
const who = answer.data?.object?.who ?? null;
const { zone } = page.place;
if (who === null) {
return answer.isFinal ? null : html`<${Trouble} answer=${answer}
zone=${zone} onRetry=${() => page.answers.retry()} />`;
}
const first = readInstant(who.entry.observedAt) ?? 0;
return html`
<details class="who">
<summary>Last change of each field</summary>
${who.created && html`<p class="quiet">Created by
${' '}${authorName(who.created)}, ${knownBy(who.created)}.</p>`}
${who.deleted && html`<p class="quiet">Deleted by
${' '}${authorName(who.deleted)}, ${knownBy(who.deleted)}.</p>`}
<table>
<thead><tr>
<th scope="col">Field</th>
<th scope="col">Changed, ${zoneName(zone, first)}</th>
<th scope="col">By</th><th scope="col">Known by</th>
<th scope="col">Entry</th>
</tr></thead>
<tbody>${who.fields.map((field) => html`
<${Field} key=${field.path} page=${page} field=${field} />`)}</tbody>
</table>
</details>
`;
}
function Field({ page, field }) {
const { entry, author } = field;
const { zone } = page.place;
const at = readInstant(entry.observedAt) ?? 0;
const name = author.entry ?? entry.name;
return html`
<tr>
<td><code class="path">${field.path}</code>
${field.change === 'REMOVED' && ' removed'}</td>
<td><time title=${dayAndClock(at, zone)}>${clock(at, zone)}</time></td>
<td>${authorName(author)}</td>
<td>${knownBy(author)}</td>
<td><a class="code" href=${page.keep({ entry: name })}>${name}</a></td>
</tr>
`;
}
return { Who };
})();
const in_views_handing = (() => {
const { html } = in_html;
const { commandOf, fieldsOf, linkOf, queryOf } = in_words_copying;
const { Dialog } = in_views_overlays;
function Handing({ page }) {
const { place, cluster, openVerdict } = page;
const verdict = place.view === 'node' ? openVerdict : null;
const log = cluster?.log.id ?? '';
const fields = fieldsOf(place, {
log, cluster: cluster?.name ?? '', verdict, window: page.window,
});
const links = (page.answers.of('links').data?.links ?? []).flatMap(
({ name, url }) => {
const href = linkOf(url, fields);
return href === null ? [] : [{ name, href }];
});
const copies = ([
['Link', location.href],
['Command', commandOf(place, { log, verdict })],
['GraphQL', queryOf(page.needs)],
]);
return html`
<${Dialog} page=${page} label="Copy and links">
<h2>Copy</h2>
<ul class="copies">
${copies.map(([name, text]) => html`
<li key=${name}><button type="button"
onClick=${() => page.handOver(text)}>${name}</button>
${' '}<code>${text.split('\n')[0]}</code></li>`)}
<li><button type="button" onClick=${() => page.handOver(null)}>
Markdown</button></li>
</ul>
${links.length > 0 && html`
<h2>Open</h2>
<ul class="copies">${links.map(({ name, href }) => html`
<li key=${name}><a href=${href} target="_blank"
rel="noopener noreferrer">${name}</a></li>`)}</ul>`}
<//>
`;
}
return { Handing };
})();
const in_views_object = (() => {
const { html } = in_html;
const { readInstant } = in_time_instant;
const { clock, dayAndClock, zoneName } = in_time_clock;
const { authorName } = in_words_author;
const { counted, prose } = in_words_plain;
const { Changes } = in_views_evidence;
const { Coverage, Trouble, Waiting } = in_views_states;
const { Who } = in_views_who;
const PATHS_SHOWN = 4;
function KubernetesObject({ page }) {
const { place } = page;
const answer = page.answers.of('object');
const object = answer.data?.object ?? null;
const isOld = answer.error !== '' || answer.key !== answer.dataKey;
return html`
<section class="object" aria-labelledby="title">
<div class="title">
<h1 id="title"><small>${place.kind}</small>
${' '}${place.namespace && `${place.namespace}/`}${place.name}</h1>
<div class="does">
${place.kind.toLowerCase() === 'node' && html`
<a class="button" href=${page.href({ view: 'node',
name: place.name })}>Why and timeline</a>`}
<button type="button" onClick=${() => page.copy()}>
Copy as Markdown</button>
</div>
</div>
<${Trouble} answer=${answer} zone=${place.zone}
onRetry=${() => page.answers.retry()} />
${object === null
? answer.error === '' && html`<${Waiting} lines=${6}
says="Loading versions" />`
: html`<div class=${isOld ? 'old' : ''}>
<${Story} page=${page} object=${object} /></div>`}
</section>
`;
}
function Story({ page, object }) {
const { versions } = object;
const uids = object.uids.filter(Boolean);
const newest = [...versions.nodes].reverse();
const { zone } = page.place;
return html`
${!versions.coverage.complete
&& html`<${Coverage} coverage=${versions.coverage} zone=${zone} />`}
<p class="quiet">
${counted(versions.nodes.length, 'version')}
${uids.length > 1 && `, ${uids.length} incarnations with this name`}
${versions.heartbeats && `, ${counted(versions.heartbeats.count,
'heartbeat')} counted instead of stored`}.
Choose two versions to compare them.
</p>
<${Compared} page=${page} />
<${Versions} page=${page} versions=${newest} />
${versions.pageInfo.hasPreviousPage && html`
<button type="button" class="more" onClick=${() => page.older()}>
Older versions</button>`}
<${Who} page=${page} />
<${Document} page=${page} />
`;
}
function Versions({ page, versions }) {
const { zone } = page.place;
const first = readInstant(versions[0]?.entry.observedAt ?? '') ?? 0;
return html`
<table class="versions stacked">
<thead><tr>
<th scope="col">Compare</th>
<th scope="col">Observed, ${zoneName(zone, first)}</th>
<th scope="col">Operation</th><th scope="col">Writers</th>
<th scope="col">Changed fields</th><th scope="col">Entry</th>
</tr></thead>
<tbody>${versions.map((version) => html`
<${VersionRow} key=${version.entry.name} page=${page}
version=${version} />`)}</tbody>
</table>
`;
}
function VersionRow({ page, version }) {
const { entry, writers, author, changed } = version;
const by = author.knownBy === 'AUDIT' ? authorName(author)
: writers.map((one) => one.name).join(', ');
const { place } = page;
const at = readInstant(entry.observedAt) ?? 0;
const paths = changed.map((change) => change.path);
const more = paths.length - PATHS_SHOWN;
return html`
<tr class=${place.entry === entry.name ? 'chosen' : ''}>
<td class="choose">
${(['left', 'right']).map((side) => html`
<input type="radio" name=${side} checked=${place[side] === entry.name}
aria-label="${side === 'left' ? 'From' : 'To'} ${entry.name}"
onChange=${() => page.go({ [side]: entry.name })} />`)}
</td>
<td><time title=${dayAndClock(at, place.zone)}
>${clock(at, place.zone)}</time></td>
<td>${prose(entry.operation)}${version.begins
&& version.uidBefore && ', new incarnation'}</td>
<td data-name=${by ? 'by' : null}>${by}</td>
<td class="whole">
${paths.slice(0, PATHS_SHOWN).map((path) => html`
<code class="path">${path}</code> `)}
${more > 0 && html`<small>and ${more} more</small>`}</td>
<td><a class="code" href=${page.keep({ entry: entry.name })}
>${entry.name}</a></td>
</tr>
`;
}
function Compared({ page }) {
const { left, right, zone } = page.place;
if (left === '' || right === '') return null;
const answer = page.answers.of('difference');
const diff = answer.data?.object?.diff ?? null;
return html`
<section class="compared" aria-label="Compared">
<h2>${left} compared with ${right}</h2>
<${Trouble} answer=${answer} zone=${zone}
onRetry=${() => page.answers.retry()} />
${diff && html`
<p class="quiet">${diff.outcome}</p>
<${Changes} changed=${diff.changed} previous=${diff.from}
page=${page} />`}
</section>
`;
}
function Document({ page }) {
const { place } = page;
const answer = page.answers.of('document');
const shown = answer.data?.object?.at ?? null;
return html`
<section class="document" aria-labelledby="document-title">
<h2 id="document-title">Document at a time</h2>
<form onSubmit=${(event) => {
event.preventDefault();
page.goTo(event.target.elements.time.value);
}}>
<label>Time ${' '}
<input name="time" placeholder="03:14, 2026-11-21T03:14:00Z, 2h"
autocomplete="off" /></label>
<button type="submit">Show</button>
</form>
${answer.isFinal
? html`<p class="quiet">${answer.error}</p>`
: html`<${Trouble} answer=${answer} zone=${place.zone}
onRetry=${() => page.answers.retry()} />`}
${shown && !answer.isFinal && html`
<p class="quiet">Entry ${shown.entry.name}, observed
${' '}${dayAndClock(readInstant(shown.entry.observedAt) ?? 0,
place.zone)}.</p>
<pre tabindex="0">${JSON.stringify(shown.document, null, 2)}</pre>`}
</section>
`;
}
return { KubernetesObject };
})();
const in_views_detail = (() => {
const { Compare } = in_views_compare;
const { Evidence } = in_views_evidence;
const { Handing } = in_views_handing;
const { KubernetesObject } = in_views_object;
const { Sources } = in_views_sources;
const { Workload } = in_views_workload;
return { Compare, Evidence, Handing, KubernetesObject, Sources, Workload,  };
})();
return in_views_detail;
};

let made;
export default ({ in_ask_fragments, in_html, in_needs, in_time_clock, in_time_instant, in_views_states, in_words_plain, in_words_recording }) => made ??= (() => {
const in_ask_ofsources = (() => {
const { GAP, LOG, OF_LOG } = in_ask_fragments;
const SOURCES = `query Sources {
status {
now
database { version embedded bytes diskFreeBytes }
clusters {
name uid kubernetes
log { id kind size recordedAt entriesPerMinute }
sources { source resource state beganAt vouchedUntil lastFrameAt
lagSeconds entries gap { ${GAP} } }
audit { state records says }
openGaps { ${GAP} }
coverage { complete since until provenUntil says }
}
}
}`;
const GAPS = `query Gaps(${LOG}) {
gaps(${OF_LOG}) {
more
gaps { ${GAP} }
outages { from to reason gaps resources possible moreChanged
changed { object change entry } }
}
}`;
return { SOURCES, GAPS };
})();
const in_views_sources = (() => {
const { GAPS, SOURCES } = in_ask_ofsources;
const { html } = in_html;
const { logOf, OVERVIEW_EVERY } = in_needs;
const { readInstant } = in_time_instant;
const { dayAndClock, span } = in_time_clock;
const { counted, prose, rounded, size } = in_words_plain;
const { clusterOf, recordingOf, withoutEnd } = in_words_recording;
const { Figure, Trouble, Waiting } = in_views_states;
const needsOf = ({ known }) => [
{ slot: 'sources', query: SOURCES, variables: {}, every: OVERVIEW_EVERY },
{ slot: 'gaps', query: GAPS, variables: logOf(known) },
];
const MEANS = {
LIVE: 'watching, confirmed complete',
LISTING: 'listing, or waiting to list',
BACKING_OFF: 'failed, retrying with backoff',
FORBIDDEN: 'missing permissions or valid credentials',
ABSENT: 'not served by the cluster',
STOPPED: 'not being recorded',
};
const CHANGED_SHOWN = 5;
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
<${Outages} page=${page} />`}
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
<th scope="col">Proven until</th><th scope="col">Lag</th>
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
function Outages({ page }) {
const answer = page.answers.of('gaps');
const found = answer.data?.gaps ?? null;
const outages = [...(found?.outages ?? [])].reverse();
const gaps = new Map((found?.gaps ?? []).map(
(gap) => [gap.id, gap]));
return html`
<h2>Outages</h2>
<${Trouble} answer=${answer} zone=${page.place.zone}
onRetry=${() => page.answers.retry()} />
${found && outages.length === 0 && html`<p class="note complete">No gaps:
the recording is complete.</p>`}
${outages.length > 0 && html`
<table class="gaps stacked">
<thead><tr><th scope="col">From</th><th scope="col">Length</th>
<th scope="col">Reason</th><th scope="col">Known to differ</th>
<th scope="col">May be missing</th></tr></thead>
<tbody>${outages.map((outage) => html`
<${OutageRow} key=${outage.gaps[0]} page=${page} outage=${outage}
gaps=${outage.gaps.map((id) =>
gaps.get(id))} />`)}</tbody>
</table>
${found.more > 0 && html`<p class="quiet">and
${' '}${counted(found.more, 'older gap')}.</p>`}`}
`;
}
function OutageRow({ page, outage, gaps }) {
const { zone } = page.place;
const from = readInstant(outage.from ?? '');
const to = readInstant(outage.to ?? '');
const isHealed = gaps.every(({ healed }) => healed);
return html`
<tr class=${isHealed ? 'healed' : ''}>
<td data-name="from"><span class="swatch" aria-hidden="true"></span>
${' '}${from === null ? 'the beginning' : dayAndClock(from, zone)}</td>
<td data-name="length">${to === null ? withoutEnd(outage.reason)
: from === null ? `until ${dayAndClock(to, zone)}` : span(to - from)}</td>
<td class="whole">${outage.reason}
<details><summary>${counted(gaps.length, 'gap')}</summary>
<ul>${gaps.map((gap) => html`<li key=${gap.id}>
${gap.resource ?? 'all resources'}
${' '}<a class="code" href=${page.keep({ entry: gap.id })}
>${gap.id}</a>${gap.proved && `. Proved: ${gap.proved}`}</li>`)}
</ul></details></td>
<td class="whole" data-name="known to differ:">${
changedWords(outage) || 'nothing'}</td>
<td class="whole" data-name="may be missing:">${isHealed
? 'nothing (healed)' : missingWords(outage.possible)}</td>
</tr>
`;
}
function changedWords({ changed, moreChanged }) {
const named = changed.slice(0, CHANGED_SHOWN)
.map(({ object, change }) => `${object} (${change})`);
const more = changed.length - named.length + moreChanged;
return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
function missingWords(possible) {
const texts = possible.map((one) => one.slice(one.indexOf(': ') + 2));
return [...new Set(texts)].join(', ');
}
return { needsOf, Sources };
})();
return { in_ask_ofsources, in_views_sources };
})();

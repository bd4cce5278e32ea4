let made;
export default ({ in_html, in_lighting, in_time_clock, in_time_instant, in_words_author, in_words_incident, in_words_plain }) => made ??= (() => {
const in_views_verdict = (() => {
const { html } = in_html;
const { light } = in_lighting;
const { readInstant } = in_time_instant;
const { clock, day, zoneName } = in_time_clock;
const { actorName } = in_words_author;
const { lasts } = in_words_incident;
const { counted, objectName, prose, term } = in_words_plain;
const STEPS_WITH_KEYS = 9;
function VerdictCard({ page, verdict, jobs }) {
const at = readInstant(verdict.at) ?? 0;
return html`
<article class="verdict open" id="verdict-${verdict.id}">
<header>
<p class="sentence">${verdict.sentence}</p>
<${Sure} verdict=${verdict} />
</header>
<${About} rows=${[
...aboutOf(verdict),
...(jobs.length === 0 ? [] : [['Jobs hit', html`<${JobsHit}
page=${page} hits=${jobs} />`]]),
timesRow(at, page.place.zone),
]} />
<${Path} page=${page} verdict=${verdict} />
</article>
`;
}
const JOBS_NAMED = 3;
function JobsHit({ page, hits }) {
const left = hits.length - JOBS_NAMED;
return html`${hits.slice(0, JOBS_NAMED).map((hit, place) => html`
${place > 0 && ', '}<a key="${hit.workload.uid} ${hit.hitAt}"
href=${page.workloadLink(hit.workload)} title=${hit.says}
>${objectName(hit.workload)}</a> ${prose(hit.outcome)}`)}${left > 0
&& html` <a href="#jobs">and ${left} more</a>`}`;
}
const About = ({ rows }) => html`
<dl class="about">
${rows.map(([name, says]) => html`
<div key=${name}><dt>${name}</dt><dd>${says}</dd></div>`)}
</dl>
`;
const timesRow = (at, zone) =>
['Times', `${day(at, zone)}, ${zoneName(zone, at)}`];
function OtherVerdicts({ page, verdicts, title, noun }) {
if (verdicts.length === 0) return null;
return html`
<section class="others" aria-labelledby="others-title">
<h2 id="others-title">${title}
${' '}<small>${counted(verdicts.length, noun)}</small></h2>
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
...awayRows(verdict),
...(decision === null ? [] : [['Decided by', deciderWords(decision)]]),
...(bootIdAfter === null ? [] : [['Boot ID', bootWords(verdict)]]),
];
}
const downRows = ({ downSeconds }) =>
downSeconds === null ? [] : [['Down', lasts(downSeconds, true)]];
function awayRows({ happened, backInServiceAt, awaySeconds, duration }) {
if (happened === 'JOINED') return [];
if (happened === 'DEGRADED') {
return [['Degraded', duration === null ? 'not known to be over'
: lasts(duration.seconds, duration.atMost)]];
}
const away = awaySeconds === null ? 'never'
: lasts(awaySeconds, duration?.kind === 'AWAY' && duration.atMost);
return [['Out of service',
backInServiceAt === null ? 'not back in service' : away]];
}
function deciderWords({ actor, carriedOutBy, class: what }) {
const by = carriedOutBy?.name ? `, carried out by ${carriedOutBy.name}` : '';
return `${actorName(actor)} (${term(what)})${by}`;
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
if (actor === null || !(actor.name || actor.tool)) return '';
return `, by ${actorName({ ...actor, tool: actor.name ? null : actor.tool })}`;
}
function signsOf(verdict, [first, ...others]) {
return once(verdict.evidence.filter(({ entry }) =>
entry !== first && others.includes(entry)));
}
function signsBeside({ steps, evidence }) {
const shown = new Set(steps.flatMap((one) => one.entries));
return once(evidence.filter((sign) => !shown.has(sign.entry)));
}
function once(signs) {
const records = new Map();
for (const sign of signs) {
const says = records.get(sign.entry)?.says;
records.set(sign.entry, says ? { ...sign, says: `${says}; ${sign.says}` } : sign);
}
return [...records.values()];
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
return { VerdictCard, About, timesRow, OtherVerdicts, Sure, Path, Doubts };
})();
return { in_views_verdict };
})();

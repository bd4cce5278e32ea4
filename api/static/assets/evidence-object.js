let made;
export default ({ in_ask_fragments, in_html, in_time_clock, in_time_instant, in_views_states, in_words_author, in_words_markdown, in_words_plain }) => made ??= (() => {
const in_ask_ofentry = (() => {
const { COVERAGE, AUTHOR, ENTRY, CHANGE, WRITERS } = in_ask_fragments;
const ENTRY_DETAIL = `query Entry($name: ID!) {
entry(name: $name) {
entry { ${ENTRY} } raw document
facts { entry index kind at occurredAt actor says }
previous { name observedAt }
${CHANGE} ${WRITERS} author { ${AUTHOR} } ${COVERAGE}
}
}`;
return { ENTRY_DETAIL };
})();
const in_views_evidence = (() => {
const { ENTRY_DETAIL } = in_ask_ofentry;
const { html } = in_html;
const { readInstant } = in_time_instant;
const { dayAndClock, exactClock } = in_time_clock;
const { authorName } = in_words_author;
const { entryMarkdown } = in_words_markdown;
const { objectName, prose, valueText } = in_words_plain;
const { Trouble, Waiting } = in_views_states;
const markdownOf = ({ answers, place }) =>
entryMarkdown(answers.of('entry').data.entry, place.zone);
const needsOf = ({ place }) => [
{ slot: 'entry', query: ENTRY_DETAIL, variables: { name: place.entry } },
];
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
return { markdownOf, needsOf, Evidence, Changes };
})();
return { in_ask_ofentry, in_views_evidence };
})();

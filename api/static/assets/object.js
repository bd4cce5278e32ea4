let made;
export default ({ in_ask_fragments, in_html, in_needs, in_time_clock, in_time_instant, in_views_evidence, in_views_states, in_words_author, in_words_plain }) => made ??= (() => {
const in_ask_ofobject = (() => {
const { COVERAGE, AUTHOR, ENTRY, CHANGE, WRITERS, LOG, OF_LOG } = in_ask_fragments;
const OBJECT = `query Object(${LOG}, $name: String!, $last: Int,
$before: String) {
object(${OF_LOG}, name: $name) {
kind namespace name uids
versions(last: $last, before: $before) {
nodes { entry { ${ENTRY} } begins uidBefore ${WRITERS}
author { ${AUTHOR} } ${CHANGE} }
pageInfo { hasPreviousPage startCursor }
heartbeats { count lastAt }
${COVERAGE}
}
}
}`;
const WHO = `query Who(${LOG}, $name: String!, $time: DateTime) {
object(${OF_LOG}, name: $name) {
who(time: $time) {
entry { observedAt } created { ${AUTHOR} } deleted { ${AUTHOR} }
fields { path change entry { name observedAt } author { ${AUTHOR} } }
}
}
}`;
const DIFFERENCE = `query Difference(${LOG}, $name: String!,
$from: String!, $to: String) {
object(${OF_LOG}, name: $name) {
diff(from: $from, to: $to) {
outcome from { name observedAt } to { name observedAt }
${CHANGE} ${WRITERS}
}
}
}`;
const OBJECT_AT = `query ObjectAt(${LOG}, $name: String!,
$time: DateTime) {
object(${OF_LOG}, name: $name) {
at(time: $time) { entry { name observedAt } document }
}
}`;
return { OBJECT, WHO, DIFFERENCE, OBJECT_AT };
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
const in_needs_object = (() => {
const { DIFFERENCE, OBJECT, OBJECT_AT, WHO } = in_ask_ofobject;
const { logOf, nameOf, olderOf, PAGE_LENGTH, written } = in_needs;
function ofObject({ place, known, cursorsOf }) {
const log = { ...logOf(known), name: nameOf(place) };
const variables = { ...log, last: PAGE_LENGTH };
const first = { slot: 'object', query: OBJECT, variables };
const needs = [first, ...olderOf(first, cursorsOf)];
needs.push({
slot: 'document', query: OBJECT_AT, isAside: true,
variables: { ...log, time: written(place.to) },
});
needs.push({
slot: 'who', query: WHO, isAside: true,
variables: { ...log, time: written(place.to) },
});
if (place.left !== '' && place.right !== '') {
needs.push({
slot: 'difference', query: DIFFERENCE,
variables: { ...log, from: place.left, to: place.right },
});
}
return needs;
}
return { ofObject };
})();
const in_views_object = (() => {
const { html } = in_html;
const { ofObject } = in_needs_object;
const { readInstant } = in_time_instant;
const { clock, dayAndClock, zoneName } = in_time_clock;
const { authorName } = in_words_author;
const { counted, prose } = in_words_plain;
const { Changes } = in_views_evidence;
const { Coverage, Trouble, Waiting } = in_views_states;
const { Who } = in_views_who;
const needsOf = ofObject;
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
return { needsOf, KubernetesObject };
})();
return { in_ask_ofobject, in_needs_object, in_views_object, in_views_who };
})();

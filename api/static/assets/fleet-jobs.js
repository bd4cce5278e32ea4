let made;
export default ({ in_html, in_views_states, in_words_filter, in_words_plain, in_words_recording }) => made ??= (() => {
const in_ordering = (() => {
function orderOf(columns, text) {
const id = text.replace(/^-/, '');
const isKnown = columns.some((column) => column.id === id);
return isKnown ? { id, isDown: text.startsWith('-') }
: { id: columns[0].id, isDown: true };
}
function nextOrder(columns, now, id) {
const { id: last, isDown } = orderOf(columns, now);
const isWord = columns.find((column) => column.id === id)?.isWord ?? false;
const down = last === id ? !isDown : !isWord;
return id === columns[0].id && down ? '' : `${down ? '-' : ''}${id}`;
}
function sorted(columns, items, text, about) {
const { id, isDown } = orderOf(columns, text);
const [first] = columns;
const { by } = columns.find((column) => column.id === id) ?? first;
const keys = new Map(items.map((one) =>
[one, [by(one, about), first.by(one, about)]]));
return [...items].sort((one, other) => {
const [[a, x], [b, y]] = [keys.get(one) ?? [], keys.get(other) ?? []];
if (a !== b) return (a < b ? -1 : 1) * (isDown ? -1 : 1);
if (x === y) return 0;
return x < y ? 1 : -1;
});
}
return { orderOf, nextOrder, sorted };
})();
const in_views_facets = (() => {
const { html } = in_html;
const { hasWord, NONE, toggled } = in_words_filter;
const { counted } = in_words_plain;
const WORDS_SHOWN = 8;
function Facets({ page, facets, counts, children }) {
const { hasFacets } = page.ui;
return html`
<aside class="facets ${hasFacets ? 'shown' : ''}" aria-label="Narrow down">
<button type="button" aria-expanded=${hasFacets}
onClick=${() => page.set({ hasFacets: !hasFacets })}>
Narrow down${children && ' and group'}</button>
<div class="inside">
${children}
${facets.map(({ facet, ...given }) => html`
<${Facet} key=${facet} page=${page} ...${given}
counts=${counts[facet] ?? []} />`)}
</div>
</aside>
`;
}
function Facet({ page, title, prefix, counts }) {
const { filter } = page.place;
if (counts.every(({ word }) => word === NONE)) return null;
const shown = counts.slice(0, WORDS_SHOWN);
const left = counts.length - shown.length;
return html`
<section aria-label=${title}>
<h3>${title}</h3>
<ul>${shown.map(({ word, count }) => {
const asked = prefix + word;
const isChosen = hasWord(filter, asked);
return html`
<li key=${word}><a class=${isChosen ? 'chosen' : ''} title=${word}
href=${page.keep({ filter: toggled(filter, asked) })}>
<span>${isChosen ? '✕ ' : ''}${word}</span>
<b>${count}</b></a></li>`;
})}</ul>
${left > 0 && html`<p class="quiet">and ${counted(left, 'other')}</p>`}
</section>
`;
}
return { Facets };
})();
const in_views_leftout = (() => {
const { html } = in_html;
const { counted } = in_words_plain;
const { ALL } = in_words_recording;
const { Coverage } = in_views_states;
function LeftOut({ page }) {
const { page: shown, first, last, count, hasNext, tapes } = page.leftOut;
const { place } = page;
if (count === 0) return null;
return html`
${(hasNext || first > 1) && html`<p class="note hatched" role="note">
Clusters ${first} to ${last} of ${count}.
${first > 1 && html` <a href=${page.keep({ page: shown - 1 })}
>Previous clusters</a>`}
${hasNext && html` <a href=${page.keep({ page: shown + 1 })}
>Next clusters</a>`}</p>`}
${tapes > 0 && html`<p class="quiet" role="note">
${counted(tapes, 'other log')} not shown: ${page.fleetLogs[0].kind === 'TAPE'
? html`<a href=${page.href({ view: place.view, log: ALL })}>show all</a>,
or choose one above.` : 'choose one above.'}</p>`}
`;
}
function Holes({ logs, zone }) {
const holes = logs.filter(({ found }) => found && !found.coverage.complete);
const notes = holes.map(({ found, known }) => html`<${Coverage}
key=${known.log} coverage=${found.coverage} zone=${zone}
cluster=${logs.length > 1 ? known.name : undefined} />`);
if (notes.length < 2) return notes;
return html`<div class="note hatched" role="note"><details>
<summary><strong>The recording of ${counted(notes.length, 'cluster')} is
incomplete here:</strong> what is missing may change this
answer.</summary>${notes}</details></div>`;
}
return { LeftOut, Holes };
})();
const in_words_counts = (() => {
const { NONE } = in_words_filter;
function facetsOf(logs) {
const found = {};
for (const { facet, words } of logs.flat()) {
const list = (found[facet.toLowerCase()] ??= []);
for (const { word, count } of words) {
const known = list.find((one) => one.word === (word ?? NONE));
if (known) known.count += count;
else list.push({ word: word ?? NONE, count });
}
}
for (const list of Object.values(found)) {
list.sort((one, other) =>
other.count - one.count || one.word.localeCompare(other.word));
}
return found;
}
return { facetsOf };
})();
const in_views_headings = (() => {
const { html } = in_html;
const { nextOrder, orderOf } = in_ordering;
function Headings({ page, columns }) {
const { sort } = page.place;
const now = orderOf(columns, sort);
return html`
<thead><tr>${columns.map(({ id, title }) => {
const isSorted = now.id === id;
const order = isSorted && (now.isDown ? 'descending' : 'ascending');
const mark = isSorted && (now.isDown ? ' ↓' : ' ↑');
return html`<th key=${id} scope="col" aria-sort=${order || null}>
<a href=${page.keep({ sort: nextOrder(columns, sort, id) })}
>${title}${mark}</a></th>`;
})}</tr></thead>
`;
}
return { Headings };
})();
return { in_ordering, in_views_facets, in_views_headings, in_views_leftout, in_words_counts };
})();

let made;
export default ({ in_html, in_jobs_filter, in_time_instant, in_views_overlays, in_words_filter, in_words_plain }) => made ??= (() => {
const in_ask_oflinks = (() => {
const LINKS = 'query Links { links { name url } }';
return { LINKS };
})();
const in_words_copying = (() => {
const { writeShort } = in_time_instant;
const { readJobFilter } = in_jobs_filter;
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
if (view === 'places' && name) return ['incidents', '--place', object, ...window];
if (view === 'places') return ['get', 'places'];
if (view === 'jobs') return ['jobs', ...window, ...jobFilterOf(place)];
return ['incidents', ...window, ...filterOf(place)];
}
function windowOf({ from, to, last }) {
if (from !== null && to !== null) {
return ['--since', writeShort(from), '--until', writeShort(to)];
}
return last && last !== 'all' ? ['--since', last] : [];
}
function jobFilterOf({ filter }) {
const { variables } = readJobFilter(filter);
const flags = { endedBy: 'ended-by', states: 'state', kinds: 'kind',
namespaces: 'namespace', node: 'node', rack: 'rack', queues: 'queue',
priorities: 'priority', users: 'user', text: 'text' };
return Object.entries(flags).flatMap(([name, flag]) =>
[(variables)[name] ?? []].flat().flatMap(
(word) => word === null ? []
: [`--${flag}`, name === 'states' ? term(word) : word]));
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
const in_views_handing = (() => {
const { LINKS } = in_ask_oflinks;
const { html } = in_html;
const { commandOf, fieldsOf, linkOf, queryOf } = in_words_copying;
const { Dialog } = in_views_overlays;
const needsOf = () => [
{ slot: 'links', query: LINKS, variables: {}, isAside: true },
];
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
return { needsOf, Handing };
})();
return { in_ask_oflinks, in_views_handing, in_words_copying };
})();

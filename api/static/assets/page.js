import { Component, h, render } from './vendor/preact.mjs';
import htm from './vendor/htm.mjs';
const in_parts = (() => {
const PARTS = {
fleet: () => joined([import('./compare-fleet-node-workload.js'), import('./evidence-fleet-jobs-object.js'), import('./fleet-jobs-places.js'), import('./fleet-handing-jobs.js'), import('./fleet-jobs.js'), import('./fleet-node.js'), import('./fleet.js')], 'in_views_fleet'),
jobs: () => joined([import('./evidence-fleet-jobs-object.js'), import('./fleet-jobs-places.js'), import('./fleet-handing-jobs.js'), import('./handing-jobs.js'), import('./fleet-jobs.js'), import('./jobs-workload.js'), import('./jobs.js')], 'in_views_jobs'),
node: () => joined([import('./compare-fleet-node-workload.js'), import('./compare-node-workload.js'), import('./compare-node.js'), import('./fleet-node.js'), import('./node-workload.js'), import('./node.js')], 'in_views_node'),
workload: () => joined([import('./compare-fleet-node-workload.js'), import('./compare-node-workload.js'), import('./node-workload.js'), import('./jobs-workload.js'), import('./workload.js')], 'in_views_workload'),
compare: () => joined([import('./compare-fleet-node-workload.js'), import('./compare-node-workload.js'), import('./compare-node.js'), import('./compare.js')], 'in_views_compare'),
object: () => joined([import('./evidence-fleet-jobs-object.js'), import('./evidence-object.js'), import('./object.js')], 'in_views_object'),
places: () => joined([import('./fleet-jobs-places.js'), import('./places.js')], 'in_views_places'),
sources: () => joined([import('./sources.js')], 'in_views_sources'),
evidence: () => joined([import('./evidence-fleet-jobs-object.js'), import('./evidence-object.js')], 'in_views_evidence'),
handing: () => joined([import('./fleet-handing-jobs.js'), import('./handing-jobs.js'), import('./handing.js')], 'in_views_handing'),
metrics: () => joined([import('./metrics.js')], 'in_views_metrics'),
};
const LOAD_AGAIN = 2000;
const loaded = new Map();
const loading = new Set();
const partOf = (name) => loaded.get(name) ?? null;
const isLoadingPart = () => loading.size > 0;
function loadPart(name, changed) {
if (loaded.has(name) || loading.has(name)) return;
loading.add(name);
const over = () => {
loading.delete(name);
changed();
};
PARTS[name]().then((found) => {
loaded.set(name, found);
over();
}, () => setTimeout(over, LOAD_AGAIN));
}
return { partOf, isLoadingPart, loadPart };
})();
const in_words_plain = (() => {
const prose = (name) => name.toLowerCase().replaceAll('_', ' ');
const term = (name) => name.toLowerCase().replaceAll('_', '-');
function counted(count, one, many = `${one}s`) {
return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
function rounded(value) {
if (value === 0 || value >= 100) return Math.round(value).toLocaleString('en');
return String(Number(value.toPrecision(2)));
}
const gpuHours = (value) => value.toFixed(2);
const HAPPENED = {
REPLACED: 'was replaced by another machine',
REJOINED: 'rejoined as a new Node',
REMOVED: 'was removed',
REBOOT: 'rebooted',
UNREACHABLE: 'was unreachable',
KUBELET_RESTART: 'restarted its kubelet',
DRAINED: 'was drained',
CORDONED: 'was cordoned',
DEGRADED: 'degraded',
JOINED: 'joined',
};
const verb = (happened) => HAPPENED[happened] ?? prose(happened);
const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB'];
function size(bytes) {
let rest = bytes;
let unit = 0;
while (rest >= 1000 && unit < UNITS.length - 1) {
rest /= 1000;
unit += 1;
}
return `${rounded(rest)} ${UNITS[unit]}`;
}
function objectName({ kind, namespace, name }) {
return [kind.toLowerCase(), namespace, name].filter(Boolean).join('/');
}
function valueText(value) {
if (value === null || value === undefined) return 'none';
return typeof value === 'string' ? value : JSON.stringify(value);
}
return { prose, term, counted, rounded, gpuHours, verb, size, objectName, valueText };
})();
const in_ask_fragments = (() => {
const COVERAGE = `coverage { complete since until says moreGaps
gaps { id source resource from to reason proved possible healed } }`;
const GAP = 'id source resource from to reason proved possible healed';
const WORKLOAD_HIT = `workload { kind namespace name uid group } hitBy
nodes gangSize gpus outcome hitAt runningAgainAt
gpuHoursLost gpuHoursSinceCheckpoint evidence says`;
const VERDICT = `id node happened bootIdBefore bootIdAfter
beganAt at backInServiceAt
duration { kind seconds atMost }
downSeconds awaySeconds
mode cause
fault { class says at }
decision { class says at actor { kind name tool }
carriedOutBy { name } }
sentence confidence
steps { role at says actor { name tool } entries }
evidence { entry at says }
evidenceLeftOut gaps
rivals { cause excluded because }
contradictions { entry says but }
missing { evidence wouldTell }`;
const REFERENCE = 'group kind namespace name uid';
const AUTHOR = 'knownBy name onBehalfOf client address pod entry';
const ENTRY = `name operation source resource resourceVersion node reason
actor occurredAt observedAt recordedAt says object { ${REFERENCE} }`;
const CHANGE = 'changed { path change old new }';
const WRITERS = 'writers { name operation subresource at }';
const LOG = '$log: ID';
const OF_LOG = 'log: $log';
const PLACEMENT = `namespace pod uid node gpus boundAt runningAt deletingAt
endedAt phase disruption exitCodes entries
workload { kind namespace name uid group }`;
const ACTOR = 'kind name tool';
const SLURM = 'slurm { name user account partition qos }';
return { COVERAGE, GAP, WORKLOAD_HIT, VERDICT, REFERENCE, AUTHOR, ENTRY, CHANGE, WRITERS, LOG, OF_LOG, PLACEMENT, ACTOR, SLURM };
})();
const in_ask_token = (() => {
const KEY = 'recorder-token';
const IN_ADDRESS = /^#token=(.+)$/;
function takeToken() {
const found = IN_ADDRESS.exec(location.hash);
if (found === null) return;
keepToken(decodeURIComponent(found[1]));
history.replaceState(null, '', location.pathname + location.search);
}
function keepToken(token) {
sessionStorage.setItem(KEY, token.trim());
}
function proof() {
const token = globalThis.sessionStorage?.getItem(KEY);
return token ? { Authorization: `Bearer ${token}` } : {};
}
return { takeToken, keepToken, proof };
})();
const in_lighting = (() => {
let current = (null);
function light(entry) {
if (entry === current) return;
current = entry;
for (const element of document.querySelectorAll('[data-entries]')) {
const { entries = '' } = (element).dataset;
const isNamed = entry !== null && entries.split(' ').includes(entry);
element.classList.toggle('lit', isNamed);
}
dispatchEvent(new CustomEvent('lit', { detail: entry }));
}
function onLight(hear, signal) {
addEventListener('lit', (event) => {
hear((event).detail);
}, { signal });
}
return { light, onLight };
})();
const in_time_instant = (() => {
const WRITTEN =
/^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i;
const MICROSECONDS = 1000;
function readInstant(text) {
const found = WRITTEN.exec(text.trim());
if (found === null) return null;
const [, day, clock, fraction = '', zone] = found;
const seconds = clock.length === 5 ? `${clock}:00` : clock;
const whole = Date.parse(`${day}T${seconds}${zone.toUpperCase()}`);
if (Number.isNaN(whole)) return null;
return whole + Number(`0.${fraction || '0'}`) * 1000;
}
function writeInstant(at) {
const micros = Math.round(at * MICROSECONDS);
const whole = Math.floor(micros / 1e6);
const rest = String(micros - whole * 1e6).padStart(6, '0');
return `${new Date(whole * 1000).toISOString().slice(0, 19)}.${rest}Z`;
}
function writeShort(at) {
return writeInstant(at).replace(/\.?0+Z$/, 'Z');
}
function partsOf(at, zone) {
const micros = Math.round(at * MICROSECONDS);
const date = new Date(Math.floor(micros / 1e6) * 1000);
const fraction = micros - Math.floor(micros / 1e6) * 1e6;
if (zone === 'local') {
return {
year: date.getFullYear(),
month: date.getMonth() + 1,
day: date.getDate(),
hour: date.getHours(),
minute: date.getMinutes(),
second: date.getSeconds(),
micros: fraction,
};
}
return {
year: date.getUTCFullYear(),
month: date.getUTCMonth() + 1,
day: date.getUTCDate(),
hour: date.getUTCHours(),
minute: date.getUTCMinutes(),
second: date.getUTCSeconds(),
micros: fraction,
};
}
function offsetOf(at, zone) {
if (zone === 'utc') return 0;
return -new Date(at).getTimezoneOffset() * 60_000;
}
return { readInstant, writeInstant, writeShort, partsOf, offsetOf };
})();
const in_time_window = (() => {
const LENGTH_MIN = 20;
const LENGTH_MAX = 10 * 366 * 86_400_000;
const MARGIN = 0.06;
const LEAST_FITTED = 2000;
function pixelOf(window, width, at) {
return ((at - window.from) / (window.to - window.from)) * width;
}
function timeAt(window, width, x) {
return window.from + (x / Math.max(width, 1)) * (window.to - window.from);
}
function panned(window, share) {
const by = (window.to - window.from) * share;
return { from: window.from + by, to: window.to + by };
}
function zoomed(window, factor, about) {
const length = window.to - window.from;
const wanted = Math.min(Math.max(length * factor, LENGTH_MIN), LENGTH_MAX);
const share = (about - window.from) / length;
const from = about - wanted * share;
return { from, to: from + wanted };
}
function fitted(times) {
if (times.length === 0) return null;
let from = Infinity;
let to = -Infinity;
for (const at of times) {
if (at < from) from = at;
if (at > to) to = at;
}
const room = Math.max((to - from) * MARGIN, LEAST_FITTED / 2);
return { from: from - room, to: to + room };
}
function centred(window, at) {
const half = (window.to - window.from) / 2;
return { from: at - half, to: at + half };
}
return { LENGTH_MIN, pixelOf, timeAt, panned, zoomed, fitted, centred };
})();
const in_handing = (() => {
async function copyText(text) {
if (navigator.clipboard) {
try {
await navigator.clipboard.writeText(text);
return true;
} catch {
}
}
const area = document.createElement('textarea');
area.value = text;
area.className = 'hidden';
document.body.append(area);
area.select();
const isCopied = document.execCommand('copy');
area.remove();
return isCopied;
}
function saveText(name, text) {
const link = document.createElement('a');
const url = URL.createObjectURL(new Blob([text], { type: 'text/html' }));
link.href = url;
link.download = name;
link.click();
URL.revokeObjectURL(url);
}
return { copyText, saveText };
})();
const in_words_shown = (() => {
/* eslint-disable no-control-regex */
const CONTROLS =
/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const SYMBOLS = 0x2400;
const DEL = 0x7f;
const DEL_SYMBOL = '\u2421';
function symbol(one) {
const code = one.charCodeAt(0);
if (code === DEL) return DEL_SYMBOL;
return code < 0x20 ? String.fromCharCode(SYMBOLS + code) : '\ufffd';
}
const shown = (text) => text.replace(CONTROLS, symbol);
return { shown };
})();
const in_route_keys = (() => {
const BINDINGS = [
{ keys: ['/'], does: 'search for a node, job, object or entry', action: 'search' },
{ keys: ['j'], does: 'next incident, job or fact', action: 'next' },
{ keys: ['k'], does: 'previous incident, job or fact', action: 'previous' },
{ keys: ['Enter'], does: 'open the selection', action: 'open' },
{ keys: ['1', '–', '9'], does: 'open a step of the verdict', action: 'step' },
{ keys: ['n', 'p'], does: 'next and previous record of the verdict', action: 'record' },
{ keys: ['←', '→'], does: 'move the window', action: 'pan' },
{ keys: ['+', '-'], does: 'zoom in or out', action: 'zoom' },
{ keys: ['f'], does: 'fit the window to the incident', action: 'fit' },
{ keys: ['g'], does: 'go to a time', action: 'goto' },
{ keys: ['u'], does: 'switch between UTC and local time', action: 'zone' },
{ keys: ['c'], does: 'copy as Markdown', action: 'copy' },
{ keys: ['y'], does: 'copy as a link, command or query, and links', action: 'hand' },
{ keys: ['Esc'], does: 'close the open panel', action: 'close' },
{ keys: ['?'], does: 'show these keys', action: 'help' },
];
const ACTIONS = {
'/': { action: 'search' },
j: { action: 'next', by: 1 },
k: { action: 'next', by: -1 },
Enter: { action: 'open' },
n: { action: 'record', by: 1 },
p: { action: 'record', by: -1 },
ArrowLeft: { action: 'pan', by: -1 },
ArrowRight: { action: 'pan', by: 1 },
'+': { action: 'zoom', by: 1 },
'=': { action: 'zoom', by: 1 },
'-': { action: 'zoom', by: -1 },
f: { action: 'fit' },
g: { action: 'goto' },
u: { action: 'zone' },
c: { action: 'copy' },
y: { action: 'hand' },
Escape: { action: 'close' },
'?': { action: 'help' },
};
const WRITING = new Set(['INPUT', 'TEXTAREA', 'SELECT']);
const OWN = new Set(['Enter']);
const GROUND = new Set(['BODY', 'MAIN']);
function actionOf(pressed, within) {
if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return null;
const isWriting = WRITING.has(within);
if (isWriting) return pressed.key === 'Escape' ? { action: 'close' } : null;
if (OWN.has(pressed.key) && !GROUND.has(within)) return null;
if (/^[1-9]$/.test(pressed.key)) {
return { action: 'step', by: Number(pressed.key) };
}
return ACTIONS[pressed.key] ?? null;
}
return { BINDINGS, actionOf };
})();
const in_words_workload = (() => {
const WORKLOADS = new Set([
'Job', 'JobSet', 'LeaderWorkerSet', 'TrainJob', 'PyTorchJob', 'MPIJob',
'RayJob', 'RayCluster', 'Deployment', 'StatefulSet', 'SlurmJob',
]);
const ENDS = new Set(['Succeeded', 'Failed']);
const isWorkload = (hit) =>
hit?.kind === 'OBJECT' && WORKLOADS.has(hit.object.kind);
const sentenceOf = ({ sentence, endings }) =>
endings.at(-1)?.sentence ?? sentence;
const partOf = (kind) =>
kind.toLowerCase() === 'slurmjob' ? 'member' : 'Pod';
const phaseOf = ({ phase, endedAt }) =>
(endedAt && !ENDS.has(phase) ? 'gone' : phase);
const slurmNames = (slurm) => (slurm ? [
slurm.name, slurm.user && `user ${slurm.user}`,
slurm.account && `account ${slurm.account}`,
slurm.partition && `partition ${slurm.partition}`,
slurm.qos && `QOS ${slurm.qos}`,
] : []).filter(Boolean).join(', ');
return { isWorkload, sentenceOf, partOf, phaseOf, slurmNames };
})();
const in_timeline_lane = (() => {
const TONES = ([
'plain', 'service', 'absent', 'calm', 'strong', 'cordoned', 'degraded', 'unknown',
'notready',
]);
const LOUDNESS = new Map(TONES.map((tone, place) => [tone, place]));
function loudness(tone) {
return LOUDNESS.get(tone) ?? 0;
}
function readied(lane) {
const marks = [...lane.marks].sort((one, other) => one.at - other.at);
const spans = [...lane.spans].sort((one, other) => one.from - other.from);
return {
lane: { ...lane, marks, spans },
steps: marks.filter((mark) => mark.step !== undefined),
markAt: Float64Array.from(marks, (mark) => mark.at),
markTone: Uint8Array.from(marks, (mark) => loudness(mark.tone)),
spanFrom: Float64Array.from(spans, (one) => one.from),
spanTo: Float64Array.from(spans, (one) => one.to),
spanTone: Uint8Array.from(spans, (one) => loudness(one.tone)),
};
}
function speaksIn(ready, window) {
const first = firstAtOrAfter(ready.markAt, window.from);
if (first < ready.markAt.length && ready.markAt[first] <= window.to) {
return true;
}
const { spans } = ready.lane;
return spans.some((span) => span.from < window.to && span.to > window.from);
}
function firstAtOrAfter(sorted, value) {
let low = 0;
let high = sorted.length;
while (low < high) {
const middle = (low + high) >>> 1;
if (sorted[middle] < value) low = middle + 1;
else high = middle;
}
return low;
}
return { TONES, loudness, readied, speaksIn, firstAtOrAfter };
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
function actorName({ name, tool }) {
if (name) return tool ? `${name} using ${tool}` : name;
return tool ? `someone using ${tool}` : 'unknown';
}
return { authorName, knownBy, actorName };
})();
const in_ask_queries = (() => {
const { REFERENCE, LOG, OF_LOG } = in_ask_fragments;
const PULSE = 'query Pulse { __typename }';
const OVERVIEW = `query Overview {
status {
now
away { cluster why }
clusters {
name uid
log { id kind }
sources { source resource state beganAt vouchedUntil lastFrameAt }
coverage { until provenUntil }
}
}
}`;
const ENDED = `query Ended(${LOG}, $name: String!) {
whyWorkload(${OF_LOG}, name: $name) { sentence endings { sentence } }
}`;
const SEARCH = `query Search(${LOG}, $text: String!, $first: Int) {
search(${OF_LOG}, text: $text, first: $first) {
more
hits { kind title node entry object { ${REFERENCE} } }
}
}`;
const POSTMORTEM = `query Postmortem(${LOG}, $subject: String!,
$since: DateTime, $until: DateTime, $ofWorkload: Boolean!) {
postmortem(${OF_LOG}, subject: $subject, since: $since, until: $until,
ofWorkload: $ofWorkload) {
markdown html
}
}`;
const FACTS_CAME = `subscription FactsCame(${LOG}, $after: String) {
facts(${OF_LOG}, after: $after) { cursor facts { entry } }
}`;
return { PULSE, OVERVIEW, ENDED, SEARCH, POSTMORTEM, FACTS_CAME };
})();
const in_ask_post = (() => {
const { proof } = in_ask_token;
const PATIENCE = 60_000;
const FINAL = /^(question|not_found|config|graphql|access|api\.limit)/;
class AskError extends Error {
constructor(message, code = '') {
super(message);
this.code = code;
}
get isFinal() {
return FINAL.test(this.code);
}
}
async function post(query, variables, signal, patience = PATIENCE) {
const limit = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
const response = await reach(query, variables, limit);
const answer = await read(response);
const [error] = answer.errors ?? [];
if (error) {
throw new AskError(error.message, error.extensions?.code);
}
return answer.data;
}
async function reach(query, variables, signal) {
try {
return await fetch('/graphql', {
method: 'POST',
headers: {
'Content-Type': 'application/json',
Accept: 'application/graphql-response+json, application/json',
...proof(),
},
body: JSON.stringify({ query, variables }),
signal,
});
} catch (error) {
if (error instanceof DOMException && error.name === 'TimeoutError') {
throw new AskError('no answer from the recorder in time');
}
if (signal.aborted) throw error;
throw new AskError('cannot reach the recorder');
}
}
async function read(response) {
try {
return await response.json();
} catch {
throw new AskError(
`the recorder responded with ${response.status} ${response.statusText}`,
);
}
}
return { AskError, post };
})();
const in_ask_stream = (() => {
const { proof } = in_ask_token;
const WAIT_FIRST = 1000;
const WAIT_LAST = 30_000;
const SILENCE_MAX = 45_000;
const BUFFER_MAX = 8_000_000;
function eventsIn(text) {
const blocks = text.replaceAll('\r\n', '\n').split('\n\n');
const rest = blocks.pop() ?? '';
const events = [];
for (const block of blocks) {
let name = 'message';
const data = [];
for (const line of block.split('\n')) {
if (line.startsWith('event:')) name = line.slice(6).trim();
else if (line.startsWith('data:')) data.push(line.slice(5).trimStart());
}
if (data.length > 0 || name !== 'message') {
events.push({ name, data: data.join('\n') });
}
}
return { events, rest };
}
async function listen(asked, to, signal) {
let wait = WAIT_FIRST;
while (!signal.aborted) {
try {
await once(asked, {
...to,
next: (data) => {
wait = WAIT_FIRST;
to.next(data);
},
}, signal);
} catch {
}
to.state(false);
await pause(wait, signal);
wait = Math.min(wait * 2, WAIT_LAST);
}
}
async function once(asked, to, outer) {
const silence = new AbortController();
const signal = AbortSignal.any([outer, silence.signal]);
const response = await fetch('/graphql', {
method: 'POST',
headers: {
'Content-Type': 'application/json',
Accept: 'text/event-stream',
...proof(),
},
body: JSON.stringify({ query: asked.query, variables: asked.variables() }),
signal,
});
if (!response.ok || response.body === null) return;
to.state(true);
const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
let rest = '';
for (;;) {
const timer = setTimeout(() => silence.abort(), SILENCE_MAX);
const { value, done } = await reader.read();
clearTimeout(timer);
if (done) return;
const cut = eventsIn(rest + value);
rest = cut.rest;
if (rest.length > BUFFER_MAX) return;
for (const { name, data } of cut.events) {
if (name === 'complete') return;
const answer = data === '' ? null : JSON.parse(data);
if (answer?.errors) {
to.refused(answer.errors);
return;
}
if (answer?.data) to.next(answer.data);
}
}
}
function pause(wait, signal) {
return new Promise((done) => {
const timer = setTimeout(done, wait);
signal.addEventListener('abort', () => {
clearTimeout(timer);
done(undefined);
}, { once: true });
});
}
return { eventsIn, listen };
})();
const in_route_place = (() => {
const { readInstant, writeShort } = in_time_instant;
const HOME = Object.freeze({
view: 'fleet',
name: '',
kind: '',
namespace: '',
cluster: '',
log: '',
last: '',
from: null,
to: null,
zone: 'utc',
entry: '',
verdict: '',
filter: '',
folded: [],
opened: [],
pinned: [],
order: [],
left: '',
right: '',
group: '',
sort: '',
other: '',
page: 1,
shift: 0,
});
const TEXTS = ([
'cluster', 'log', 'last', 'entry', 'verdict', 'filter', 'left',
'right', 'group', 'sort', 'other',
]);
const TIMES = (['from', 'to']);
const LISTS = (['folded', 'opened', 'pinned', 'order']);
const LIST_MAX = 200;
function readPlace(address) {
const url = new URL(address, 'http://recorder.invalid');
const place = { ...HOME, ...ofPath(url.pathname) };
const given = url.searchParams;
for (const name of TEXTS) place[name] = given.get(name) ?? '';
for (const name of TIMES) place[name] = readInstant(given.get(name) ?? '');
for (const name of LISTS) place[name] = readList(given.get(name));
if (place.from !== null && place.to !== null && place.from >= place.to) {
place.from = place.to = null;
}
place.zone = given.get('zone') === 'local' ? 'local' : 'utc';
place.shift = readShift(given.get('shift'));
place.page = Math.max(Math.trunc(Number(given.get('page'))) || 1, 1);
return place;
}
function readShift(text) {
const seconds = Number(text ?? 0);
return Number.isFinite(seconds) ? Math.round(seconds * 1000) : 0;
}
function ofPath(path) {
const [view, ...names] = path.split('/').filter(Boolean).map(decoded);
if (view === undefined) return {};
if ((view === 'node' || view === 'compare') && names.length === 1) {
return { view, name: names[0] };
}
if (view === 'sources' || view === 'jobs') return { view };
if (view === 'places') {
return names.length === 2 ? { view, kind: names[0], name: names[1] } : { view };
}
if (view === 'object' && names.length === 2) {
return { view, kind: names[0], name: names[1] };
}
if ((view === 'object' || view === 'workload') && names.length === 3) {
return { view, kind: names[0], namespace: names[1], name: names[2] };
}
return { name: decoded(path) };
}
function decoded(text) {
try {
return decodeURIComponent(text);
} catch {
return text;
}
}
function readList(text) {
const found = (text ?? '').split(',').filter(Boolean).map(decoded);
return found.slice(0, LIST_MAX);
}
function writePlace(place) {
const query = new URLSearchParams();
for (const name of TEXTS) if (place[name]) query.set(name, place[name]);
for (const name of TIMES) {
const at = place[name];
if (at !== null) query.set(name, writeShort(at));
}
if (place.zone === 'local') query.set('zone', 'local');
if (place.shift !== 0) query.set('shift', String(place.shift / 1000));
if (place.page > 1) query.set('page', String(place.page));
for (const name of LISTS) {
const text = place[name].map(encodeURIComponent).join(',');
if (text) query.set(name, text);
}
const asked = query.toString().replace(/%(2F|3A|2C)/g, decodeURIComponent);
return pathOf(place) + (asked ? `?${asked}` : '');
}
function pathOf({ view, kind, namespace, name }) {
if (view === 'fleet') return '/';
const parts = [view, kind, namespace, name].filter(Boolean);
return `/${parts.map(encodeURIComponent).join('/')}`;
}
function leadingTo(from, to) {
const { cluster, log, zone } = from;
return { ...HOME, cluster, log, zone, ...to };
}
return { readPlace, writePlace, leadingTo };
})();
const in_time_asked = (() => {
const { offsetOf, readInstant } = in_time_instant;
const AGE = /^-?(\d+(?:\.\d+)?)\s*(s|m|min|h|d|w)$/i;
const CLOCK = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/;
const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?))?$/;
const DAY = 86_400_000;
const UNITS = {
s: 1000,
m: 60_000,
min: 60_000,
h: 3_600_000,
d: DAY,
w: 7 * DAY,
};
function readAge(text) {
const found = AGE.exec(text.trim());
if (found === null) return null;
return Number(found[1]) * UNITS[found[2].toLowerCase()];
}
function readAsked(text, about) {
const typed = text.trim();
const exact = readInstant(typed);
if (exact !== null) return exact;
const age = readAge(typed);
if (age !== null) return about.now - age;
const date = DATE.exec(typed);
if (date !== null) {
const utc = readInstant(`${date[1]}T${date[2] ?? '00:00'}Z`);
return utc === null ? null : utc - offsetOf(utc, about.zone);
}
return nearestClock(CLOCK.exec(typed), about);
}
function nearestClock(found, { near, zone }) {
if (found === null) return null;
const [hour, minute, second] = found.slice(1).map((part) => Number(part ?? 0));
if (hour > 23 || minute > 59 || second > 59) return null;
const ahead = offsetOf(near, zone);
const ofDay = ((hour * 60 + minute) * 60 + second) * 1000;
const midnight = Math.floor((near + ahead) / DAY) * DAY - ahead;
const days = [-DAY, 0, DAY].map((by) => midnight + by + ofDay);
return days.reduce((best, at) =>
Math.abs(at - near) < Math.abs(best - near) ? at : best,
);
}
return { readAge, readAsked };
})();
const in_time_clock = (() => {
const { offsetOf, partsOf } = in_time_instant;
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNITS = ([
['d', DAY],
['h', HOUR],
['min', MINUTE],
['s', SECOND],
]);
const padded = (value, places = 2) => String(value).padStart(places, '0');
function clock(at, zone) {
const { hour, minute, second } = partsOf(at, zone);
return `${padded(hour)}:${padded(minute)}:${padded(second)}`;
}
function exactClock(at, zone) {
const { micros } = partsOf(at, zone);
return `${clock(at, zone)}.${padded(Math.floor(micros / 1000), 3)}`;
}
function day(at, zone) {
const { year, month, day: date } = partsOf(at, zone);
return `${date} ${MONTHS[month - 1]} ${year}`;
}
function dayAndClock(at, zone) {
return `${day(at, zone)}, ${clock(at, zone)} ${zoneName(zone, at)}`;
}
function zoneName(zone, at) {
if (zone === 'utc') return 'UTC';
const minutes = Math.round(offsetOf(at, zone) / MINUTE);
const sign = minutes < 0 ? '−' : '+';
const size = Math.abs(minutes);
const hours = Math.floor(size / 60);
return `UTC${sign}${padded(hours)}:${padded(size % 60)}`;
}
function span(length) {
let rest = Math.abs(length);
if (rest < SECOND) return `${Math.round(rest)} ms`;
if (rest < 10 * SECOND) return `${Number((rest / SECOND).toFixed(1))} s`;
rest = Math.round(rest / SECOND) * SECOND;
const first = UNITS.findIndex(([, unit]) => rest >= unit);
const words = [];
for (const [name, unit] of UNITS.slice(first, first + 2)) {
const count = Math.floor(rest / unit);
if (count > 0) words.push(`${count} ${name}`);
rest -= count * unit;
}
return words.join(' ');
}
function difference(length) {
return `${length < 0 ? '−' : '+'}${span(length)}`;
}
return { clock, exactClock, day, dayAndClock, zoneName, span, difference };
})();
const in_html = (() => {
const { shown } = in_words_shown;
const READ = ['title', 'aria-label', 'alt', 'placeholder'];
function visible(child) {
if (typeof child === 'string') return shown(child);
return Array.isArray(child) ? child.map(visible) : child;
}
function element(type, props, ...children) {
if (typeof type !== 'string') return h(type, props, ...children);
let given = props;
for (const name of READ) {
const text = props?.[name];
if (typeof text === 'string') given = { ...given, [name]: shown(text) };
}
return h(type, given, ...children.map(visible));
}
const html = htm.bind(element);
return { html, Component, render };
})();
const in_timeline_arranging = (() => {
const { speaksIn } = in_timeline_lane;
function arranged(lanes, chosen, window) {
const { folded, opened, pinned, order } = chosen;
const shown = [];
const hidden = [];
for (const ready of lanes) {
const { id } = ready.lane;
const isQuiet = !pinned.includes(id) && isSilent(ready, window);
const isFolded = folded.includes(id) || (isQuiet && !opened.includes(id));
(isFolded ? hidden : shown).push(ready);
}
const placeOf = ({ lane }) => {
const place = order.indexOf(lane.id);
return place < 0 ? order.length : place;
};
const isPinned = ({ lane }) =>
pinned.includes(lane.id);
shown.sort(
(one, other) =>
Number(isPinned(other)) - Number(isPinned(one)) ||
placeOf(one) - placeOf(other),
);
return { shown, folded: hidden };
}
function isSilent(ready, window) {
if (ready.lane.group === 'recorder' || ready.lane.group === 'node') {
return false;
}
const isLoud = ready.lane.spans.some(
(one) =>
one.tone !== 'plain' && one.from < window.to && one.to > window.from,
);
if (isLoud) return false;
return !speaksIn({ ...ready, lane: { ...ready.lane, spans: [] } }, window);
}
function moved(shown, id, by) {
const ids = shown.map(({ lane }) => lane.id);
const from = ids.indexOf(id);
const to = Math.min(Math.max(from + by, 0), ids.length - 1);
ids.splice(from, 1);
ids.splice(to, 0, id);
return ids;
}
return { arranged, moved };
})();
const in_needs = (() => {
const queries = in_ask_queries;
const { writeShort } = in_time_instant;
const OVERVIEW_EVERY = 10_000;
const PULSE_EVERY = 2500;
const PULSE_PATIENCE = 4000;
const OTHERS_EVERY = 30_000;
const PAGE_LENGTH = 200;
const HITS_MAX = 20;
function needsOf(state) {
const { place, known, searched, searchLogs = [], job, partOf } = state;
const needs = [
{
slot: 'overview', query: queries.OVERVIEW, variables: {},
every: OVERVIEW_EVERY,
},
{
slot: 'pulse', query: queries.PULSE, variables: {}, isAside: true,
every: PULSE_EVERY, patience: PULSE_PATIENCE,
},
];
if (known === null) return needs;
const parts = [
place.view, place.entry !== '' && 'evidence', state.isHanding && 'handing',
];
for (const name of parts) {
if (name) needs.push(...(partOf(name)?.({ ...state, known }) ?? []));
}
for (const { log } of searched === '' ? [] : searchLogs) {
const variables = { log, text: searched, first: HITS_MAX };
needs.push({ slot: `search ${log}`, query: queries.SEARCH, variables });
}
if (job) {
needs.push({
slot: 'job', query: queries.ENDED, variables: job, isAside: true,
});
}
return needs;
}
const logOf = ({ log }) => ({ log });
const written = (at) => (at === null ? null : writeShort(at));
const olderOf = ({ slot, query, variables }, cursorsOf) =>
cursorsOf(slot).map((before, number) => ({
slot: `${slot} ${number}`, query, variables: { ...variables, before },
}));
const fleetSlot = ({ log }, isFirst) =>
isFirst ? 'incidents' : `fleet ${log}`;
const jobsSlot = ({ log }, isFirst) => isFirst ? 'jobs' : `jobs of ${log}`;
const nodeSlot = ({ name, log, cluster }) =>
`node ${name} ${log} ${cluster}`;
const nameOf = ({ kind, namespace, name }) =>
[kind, namespace, name].filter(Boolean).join('/');
return { OVERVIEW_EVERY, OTHERS_EVERY, PAGE_LENGTH, needsOf, logOf, written, olderOf, fleetSlot, jobsSlot, nodeSlot, nameOf };
})();
const in_ask_answers = (() => {
const { AskError } = in_ask_post;
const RETRY_FIRST = 1000;
const RETRY_LAST = 30_000;
const SLOTS_MAX = 40;
const NOTHING = Object.freeze({
data: null,
key: '',
dataKey: '',
isAsking: false,
error: '',
code: '',
isFinal: false,
answeredAt: 0,
tries: 0,
});
class Answers {
constructor(world) {
this.world = world;
this.slots = new Map();
this.asked = new Map();
this.timers = new Map();
this.needs = new Map();
}
of(slot) {
return this.slots.get(slot) ?? NOTHING;
}
get isAsking() {
return this.asked.size > 0;
}
want(needs) {
this.needs = new Map(needs.map((need) => [need.slot, need]));
for (const slot of [...this.asked.keys(), ...this.timers.keys()]) {
if (!this.needs.has(slot)) this.#stop(slot);
}
for (const need of needs) {
const { key, dataKey, isFinal } = this.of(need.slot);
const isIdle = !this.asked.has(need.slot) && !this.timers.has(need.slot);
const isOpen = isIdle && !isFinal && dataKey !== keyOf(need);
if (key !== keyOf(need) || isOpen) this.#ask(need);
}
}
refresh(slot) {
const need = this.needs.get(slot);
if (need !== undefined && !this.asked.has(slot)) this.#ask(need);
}
retry() {
for (const need of this.needs.values()) {
if (this.of(need.slot).error !== '') this.#ask(need);
}
}
#ask(need) {
const { slot } = need;
this.#stop(slot);
const asking = new AbortController();
this.asked.set(slot, asking);
const key = keyOf(need);
this.#put(slot, { ...this.of(slot), key, isAsking: true });
this.world
.post(need.query, need.variables, asking.signal, need.patience)
.then((data) => this.#answered(need, asking, data))
.catch((error) => this.#failed(need, asking, error));
}
#answered(need, asking, data) {
if (this.asked.get(need.slot) !== asking) return;
this.asked.delete(need.slot);
const key = keyOf(need);
const answeredAt = this.world.now();
this.#put(need.slot, { ...NOTHING, data, key, dataKey: key, answeredAt });
if (need.every !== undefined) this.#askLater(need, need.every);
this.world.changed();
}
#failed(need, asking, why) {
if (this.asked.get(need.slot) !== asking) return;
this.asked.delete(need.slot);
const { message, code, isFinal } =
why instanceof AskError ? why : new AskError(String(why));
const last = this.of(need.slot);
const tries = last.tries + 1;
this.#put(need.slot, {
...last, isAsking: false, error: message, code, isFinal, tries,
});
if (!isFinal) {
const wait = Math.min(RETRY_FIRST * 2 ** (tries - 1), RETRY_LAST);
this.#askLater(need, wait);
}
this.world.changed();
}
#askLater(need, wait) {
const timer = this.world.later(() => {
this.timers.delete(need.slot);
this.#ask(need);
}, wait);
this.timers.set(need.slot, timer);
}
#stop(slot) {
this.asked.get(slot)?.abort();
this.asked.delete(slot);
const timer = this.timers.get(slot);
if (timer !== undefined) this.world.forget(timer);
this.timers.delete(slot);
}
#put(slot, answer) {
this.slots.delete(slot);
this.slots.set(slot, answer);
for (const old of this.slots.keys()) {
if (this.slots.size <= SLOTS_MAX) break;
if (!this.needs.has(old)) this.slots.delete(old);
}
}
}
const keyOf = ({ query, variables }) => JSON.stringify([query, variables]);
return { Answers };
})();
const in_live = (() => {
const { FACTS_CAME } = in_ask_queries;
const { listen } = in_ask_stream;
const AGAIN_WAIT = 1500;
const CURSOR = 'question.cursor';
function following(page) {
let log = '';
let stop = new AbortController();
return () => {
const { known } = page;
const wanted = known?.log ?? '';
if (wanted === log) return;
stop.abort();
stop = new AbortController();
log = wanted;
if (log !== '') follow(page, log, stop.signal);
};
}
function follow(page, log, signal) {
let cursor = (null);
let timer = 0;
const refresh = () => {
timer = 0;
for (const slot of [
'overview', 'incidents', 'jobs', page.nodeSlot, 'endings', 'workload',
]) {
page.answers.refresh(slot);
}
};
const asked = {
query: FACTS_CAME,
variables: () => ({ log, after: cursor }),
};
const hands = {
next: ({ facts }) => {
cursor = facts.cursor;
if (facts.facts.length > 0 && timer === 0) {
timer = setTimeout(refresh, AGAIN_WAIT);
}
},
refused: (errors) => {
if (errors.some((one) => one.extensions.code.startsWith(CURSOR))) {
cursor = null;
refresh();
}
},
state: (isLive) => {
if (!signal.aborted && page.ui.isLive !== isLive) page.set({ isLive });
},
};
signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
listen(asked, hands, signal);
}
return { following };
})();
const in_words_incident = (() => {
const { span } = in_time_clock;
const { term } = in_words_plain;
const SECOND = 1000;
const logOf = (id) => id.slice(0, id.lastIndexOf('/'));
const WITHOUT_END = { REMOVED: '', DEGRADED: 'lasting' };
function lasted({ happened, to, duration }) {
if (to === null) return WITHOUT_END[happened] ?? 'not back';
return duration === null ? '' : lasts(duration.seconds, duration.atMost);
}
const lasts = (seconds, atMost) =>
`${span(Math.round(seconds) * SECOND)}${atMost ? ' at most' : ''}`;
function because({ cause, verdicts }) {
const [first] = verdicts;
const fault = first?.fault ? term(first.fault.class) : null;
const decision = first?.decision ? term(first.decision.class) : null;
if (fault && decision) return `${fault} → ${decision}`;
if (cause === 'UNRECORDED') return 'cause unknown';
return fault ?? decision ?? term(cause);
}
function searched(incident) {
const jobs = incident.workloads.map(
({ workload }) =>
`${workload.kind} ${workload.namespace}/${workload.name}`,
);
return [
incident.sentence, because(incident), term(incident.happened),
term(incident.confidence), term(incident.group), ...incident.nodes, ...jobs,
].join('\n').toLowerCase();
}
function incidentsOf(pages, words) {
const all = pages.flatMap((data) =>
[...(data?.incidents?.nodes ?? [])].reverse());
const once = [...new Map(all.map((one) => [one.id, one])).values()];
return once.filter((incident) => {
const text = words.length === 0 ? '' : searched(incident);
return words.every((word) => text.includes(word));
});
}
return { logOf, lasted, lasts, because, incidentsOf };
})();
const in_words_recording = (() => {
const { readInstant } = in_time_instant;
const { clock, dayAndClock, span } = in_time_clock;
const BEHIND_MAX = 150_000;
const ALL = 'all';
const LOGS_MAX = 50;
const isNamed = ({ cluster, log }) =>
cluster !== '' || !['', ALL].includes(log);
function meantBy(status, place) {
const all = status?.clusters ?? [];
const live = all.filter((one) => one.log.kind === 'LIVE');
if (!isNamed(place) && live.length > 0) return live;
if (!isNamed(place) && place.log === ALL) return all;
const one = clusterOf(status, place);
return one === null ? [] : [one];
}
function fleetOf(status, place) {
const meant = meantBy(status, place);
const { first, last } = pageOf(place, meant.length);
return meant.slice(first - 1, last);
}
function pageOf({ page: chosen }, count) {
const pages = Math.max(Math.ceil(count / LOGS_MAX), 1);
const page = Math.min(chosen, pages);
const last = Math.min(page * LOGS_MAX, count);
return { page, first: (page - 1) * LOGS_MAX + 1, last, hasNext: page < pages };
}
function leftOutOf(status, place) {
const { length: count } = meantBy(status, place);
const all = status?.clusters.length ?? 0;
return {
...pageOf(place, count), count, tapes: isNamed(place) ? 0 : all - count,
};
}
function searchedOf(status, log) {
const all = status?.clusters ?? [];
return [...all].sort((one, other) =>
Number(other.log.id === log) - Number(one.log.id === log))
.slice(0, LOGS_MAX);
}
const knownOf = (cluster) => ({
log: cluster.log.id,
name: cluster.name,
kind: cluster.log.kind,
began: beganAt(cluster),
until: readInstant(cluster.coverage.until ?? ''),
});
const endOf = (cluster) =>
isStopped(cluster) ? null : readInstant(cluster.coverage.until ?? '');
const isStopped = ({ log, sources }) => log.kind === 'LIVE' && sources.some(
(one) => one.state === 'STOPPED');
function clusterOf(status, { cluster, log: named }) {
const log = named === ALL ? '' : named;
const all = status?.clusters ?? [];
const live = all.find((one) => one.log.kind === 'LIVE');
if (log === '' && cluster === '') return live ?? all[0] ?? null;
const isMeant = (one) =>
log === '' ? [one.name, one.uid].includes(cluster) : one.log.id === log;
return all.find(isMeant) ?? null;
}
function recordingOf(status, cluster, zone) {
if (cluster.log.kind === 'TAPE') {
const last = readInstant(cluster.coverage.until ?? '');
const end = last === null ? '' : ` until ${dayAndClock(last, zone)}`;
return { tone: 'tape', says: importedOf(cluster, zone) ?? `tape${end}` };
}
const until = readInstant(cluster.coverage.provenUntil ?? '');
if (isStopped(cluster)) {
const proven = until === null ? 'nothing proven'
: `proven until ${dayAndClock(until, zone)}`;
return { tone: 'behind', says: `not being recorded, ${proven}` };
}
if (until === null) return { tone: 'behind', says: 'nothing recorded yet' };
const behind = Math.max((readInstant(status.now) ?? until) - until, 0);
if (behind > BEHIND_MAX) {
const says = `${span(behind)} behind, last data`;
return { tone: 'behind', says: `${says} ${clock(until, zone)}` };
}
return { tone: 'live', says: `proven up to ${span(behind)} ago` };
}
function importedOf({ sources }, zone) {
const watched = sources.filter(
(one) => one.source === 'WATCH');
if (watched.length === 0) return sources.length > 0 ? 'imported audit log' : null;
const dumped = watched.filter((one) =>
one.state === 'ENDED' && one.beganAt === null);
if (dumped.length < watched.length) return null;
const at = Math.max(...dumped.map((one) =>
readInstant(one.lastFrameAt ?? '') ?? 0));
return `imported dump of ${dayAndClock(at, zone)}: one state, and Events`;
}
const withoutEnd = (reason) =>
reason.startsWith('imported:') ? 'to the end' : 'still open';
const BASES = [
'v1/nodes', 'v1/pods', 'v1/events', 'coordination.k8s.io/v1/leases',
];
function beganAt(cluster) {
const times = cluster.sources
.filter((one) => BASES.includes(one.resource))
.map((one) => readInstant(one.beganAt ?? ''))
.filter((at) => at !== null);
return times.length === 0 ? null : Math.max(...times);
}
return { BEHIND_MAX, ALL, isNamed, fleetOf, leftOutOf, searchedOf, knownOf, endOf, clusterOf, recordingOf, withoutEnd, beganAt };
})();
const in_views_overlays = (() => {
const { Component, html } = in_html;
const { keepToken } = in_ask_token;
const { BINDINGS } = in_route_keys;
const { zoneName } = in_time_clock;
const { counted } = in_words_plain;
const { sentenceOf } = in_words_workload;
function Overlay({ page }) {
const { shown } = page.ui;
if (shown === '' || shown === 'hand') return null;
const [Part, label] = PARTS[shown];
return html`<${Dialog} page=${page} label=${label}><${Part} page=${page} /><//>`;
}
class Dialog extends Component {
componentDidMount() {
(this).element.showModal();
}
render() {
const { page, label, children } = (this.props);
return html`
<dialog aria-label=${label} ref=${(element) => {
(this).element = element;
}} onClose=${() => page.show('')}
onClick=${(event) => {
if (event.target === event.currentTarget) page.show('');
}}>
<div class="inside">${children}</div>
</dialog>
`;
}
}
function Help({ page }) {
return html`
<h2>Keys</h2>
<dl class="keys">
${BINDINGS.map(({ keys, does, action }) => html`
<dt key=${action}>${keys.map((key) => html`<kbd>${key}</kbd> `)}</dt>
<dd>${does}</dd>
`)}
</dl>
<p class="quiet">On a timeline: drag to move, Ctrl and wheel to zoom,
click to open an item or to measure from a time.</p>
<button type="button" onClick=${() => page.show('')}>Close</button>
`;
}
function GoTo({ page }) {
const zone = zoneName(page.place.zone, page.now());
return html`
<form onSubmit=${(event) => {
event.preventDefault();
page.goTo(event.target.elements.time.value);
}}>
<label>Go to a time (${zone})
<input name="time" autofocus autocomplete="off"
placeholder="03:14, 2026-11-21 03:14, 2h" /></label>
${page.ui.refused && html`<p class="note trouble" role="alert"
>${page.ui.refused}</p>`}
<button type="submit">Go</button>
</form>
`;
}
function Search({ page }) {
const { hits, searchLogs } = page;
const answers = searchLogs.map(({ log }) => page.answers.of(`search ${log}`));
const failed = answers.find(({ error }) => error !== '');
const left = (page.status?.clusters.length ?? 0) - searchLogs.length;
return html`
<form role="search" onSubmit=${(event) => {
event.preventDefault();
page.openHit(hits[page.ui.hit] ?? hits[0]);
}}>
<label>Search for a node, job, object or entry
<input type="search" autofocus autocomplete="off" value=${page.ui.text}
spellcheck="false" aria-controls="hits"
onInput=${(event) =>
page.set({ text: event.target.value.trim(), hit: 0 })}
onKeyDown=${(event) =>
page.chooseHit(event, hits.length)} /></label>
</form>
${failed && html`<p class="note trouble" role="alert"
>${failed.error}</p>`}
<${Job} page=${page} />
<ul id="hits" class="hits" aria-live="polite">
${hits.map((hit, place) => html`
<li key="${hit.log} ${hit.kind} ${hit.title}"
class=${place === page.ui.hit ? 'chosen' : ''}>
<a href=${page.hitLink(hit)} onClick=${() => page.show('')}>
${hit.title} <span class="kind">${[hit.kind.toLowerCase(),
hit.cluster].filter(Boolean).join(', ')}</span></a>
</li>
`)}
</ul>
${page.ui.text !== '' && hits.length === 0 && !failed
&& answers.every(({ isAsking }) => !isAsking)
&& html`<p class="quiet">No results for “${page.ui.text}”.</p>`}
${page.ui.text !== '' && answers.some(({ data }) => data?.search?.more)
&& html`<p class="quiet">There are more results: refine the search.</p>`}
${left > 0 && html`<p class="quiet">${counted(left, 'more cluster')} not
searched: choose one in the header.</p>`}
`;
}
function Job({ page }) {
const { searchedJob } = page;
if (searchedJob === null) return null;
const { key, dataKey, data } = page.answers.of('job');
const why = key === dataKey ? (data?.whyWorkload ?? null) : null;
return html`<p class="note job" role="status">${why === null
? `Looking for what became of ${searchedJob.name} …` : sentenceOf(why)}</p>`;
}
function TokenForm({ page }) {
return html`
<form class="token" onSubmit=${(event) => {
event.preventDefault();
keepToken(event.target.elements.token.value);
page.answers.retry();
}}>
<h1>Token required</h1>
<p class="quiet">This recorder requires a token. The page keeps it for
this tab only.</p>
<label>Token <input type="password" name="token" autofocus
autocomplete="off" /></label>
<button type="submit">Continue</button>
</form>
`;
}
const PARTS = {
help: [Help, 'Keys'],
goto: [GoTo, 'Go to a time'],
search: [Search, 'Search'],
};
return { Overlay, Dialog, TokenForm };
})();
const in_reading = (() => {
const { fleetSlot, jobsSlot, nodeSlot } = in_needs;
const { readInstant } = in_time_instant;
const { dayAndClock } = in_time_clock;
const { fitted } = in_time_window;
const { partOf } = in_parts;
const HOUR = 3_600_000;
const NONE = Object.freeze([]);
class Reading {
constructor(place, answers) {
this.place = place;
this.answers = answers;
this.madeFrom = ([]);
this.made = ([]);
}
get known() {
return (null);
}
get open() {
return 0;
}
get away() {
return (
(NONE));
}
get sources() {
return (NONE);
}
get end() {
return (null);
}
pagesOf(first) {
const infos = [];
for (let number = -1; number < this.open; number += 1) {
const slot = number < 0 ? first : `${first} ${number}`;
const { data } = this.answers.of(slot);
const info = (data?.object?.versions ?? data?.workloads
?? data?.incidents)?.pageInfo;
if (info === undefined) break;
infos.push({ ...info, data });
}
return infos;
}
get lists() {
const { view } = this.place;
const slotOf = view === 'jobs' ? jobsSlot : fleetSlot;
return view === 'object' ? ['object']
: this.fleetLogs.map((known, place) => slotOf(known, place === 0));
}
get hasOlder() {
return this.lists.some((slot) =>
this.pagesOf(slot).at(-1)?.hasPreviousPage ?? false);
}
get fleet() {
return partOf('fleet')?.fleetOf(this) ?? null;
}
get jobs() {
return partOf('jobs')?.jobsOf(this) ?? null;
}
get incidents() {
return this.fleet?.incidents ?? NONE;
}
get fleetLogs() {
return (NONE);
}
get logWindow() {
const { known } = this;
if (known === null || known.began === null || known.until === null) {
return null;
}
const room = Math.max((known.until - known.began) * 0.02, 1000);
return { from: known.began - room, to: known.until + room };
}
get node() {
return this.answers.of(nodeSlot(this.place)).data?.node ?? null;
}
get nodeWindow() {
const { from, to } = this.place;
if (from !== null && to !== null) return { from, to };
const end = this.known?.until ?? Date.now();
const began = this.known?.began ?? -Infinity;
const hour = { from: end - HOUR, to: end };
return began < end
? { ...hour, from: Math.max(hour.from, Math.ceil(began)) }
: hour;
}
get verdicts() {
const { from, to } = this.nodeWindow;
const all = this.node?.why?.verdicts ?? [];
return all.filter((verdict) => {
const began = readInstant(verdict.beganAt) ?? 0;
const back = readInstant(verdict.backInServiceAt ?? '') ?? Infinity;
return began <= to && back >= from;
});
}
get openVerdict() {
const { verdict: id } = this.place;
const { verdicts } = this;
return verdicts.find((one) => one.id === id)
?? verdicts.at(-1) ?? null;
}
hitsOf({ beganAt, backInServiceAt }) {
const from = readInstant(beganAt) ?? 0;
const to = readInstant(backInServiceAt ?? '') ?? Infinity;
const hits = this.node?.impact?.workloads ?? [];
return hits.filter(({ hitAt }) => {
const at = readInstant(hitAt) ?? 0;
return this.verdicts.length === 1 || (at >= from && at <= to);
});
}
get endings() {
return this.answers.of('endings').data?.whyWorkload?.endings ?? NONE;
}
get openEnding() {
const { endings, place: { verdict: id } } = this;
return endings.find((one) => one.id === id)
?? endings.findLast((one) =>
one.endedBy !== 'COMPLETION')
?? endings.at(-1) ?? null;
}
get struck() {
const { view } = this.place;
if (view === 'node') return this.openVerdict;
const verdicts = view === 'workload' ? this.openEnding?.verdicts ?? [] : [];
return verdicts.reduce((first, one) =>
first === null || one.at < first.at ? one : first, null);
}
get kept() {
const { struck } = this;
const kept = this.answers.of('metrics').data?.metrics?.kept ?? NONE;
return kept.filter(({ node, peerOf }) =>
struck !== null && [node, peerOf].includes(struck.node));
}
get lanes() {
const part = partOf(this.place.view);
const data = this.place.view === 'node'
? this.node : (this.answers.of('workload').data?.workload ?? null);
const verdict = this.place.view === 'node' ? this.openVerdict : null;
const { sources, endings, end } = this;
const from = [part, data, verdict?.id, endings, sources, end];
if (this.madeFrom.some((one, place) => one !== from[place])
|| this.madeFrom.length === 0) {
this.madeFrom = from;
this.made = data === null ? []
: part?.lanesOf?.({ data, verdict, endings, sources, end }) ?? [];
}
return this.made;
}
get factsInWindow() {
const { from, to } = this.nodeWindow;
return (this.node?.timeline?.facts ?? []).filter(
(fact) => {
const at = readInstant(fact.at) ?? 0;
return at >= from && at <= to;
},
);
}
get fit() {
if (this.place.view === 'workload') return null;
const { verdicts, node } = this;
return fitted(timesToFit(verdicts, node?.timeline));
}
get workloadWindow() {
const { from, to } = this.place;
if (from !== null && to !== null) return { from, to };
const times = this.lanes.flatMap(({ lane }) =>
lane.spans.flatMap((span) => [span.from, span.to])
.concat(lane.marks.map((mark) => mark.at)));
const end = this.known?.until;
const known = times.filter(Number.isFinite);
return fitted(end && times.includes(Infinity) ? [...known, end] : known)
?? { from: Date.now() - HOUR, to: Date.now() };
}
nearestToNode() {
const nearest = this.answers.of('map').data?.incidents?.nearest;
const newest = this.answers.of('map').data?.incidents?.nodes.at(-1);
const at = readInstant(newest?.from ?? nearest?.before?.at ?? '');
if (at === null) return [];
const says = newest?.sentence ?? nearest.before.says;
const page = (this);
return [{
href: page.keep({ from: at - HOUR / 6, to: at + HOUR / 6, verdict: '' }),
says: `${dayAndClock(at, this.place.zone)}: ${says}`,
}];
}
}
function timesToFit(verdicts, timeline) {
const signs = verdicts.flatMap((verdict) => [
...verdict.evidence.map((sign) => sign.at),
verdict.backInServiceAt,
]);
const facts = timeline?.facts.map((fact) => fact.at) ?? [];
return instantsOf(signs.length > 0 ? signs : facts);
}
function instantsOf(texts) {
return texts
.map((text) => readInstant(text ?? ''))
.filter((at) => at !== null);
}
function windowAround({ beganAt, at, backInServiceAt }, began = null) {
const times = instantsOf([beganAt, at, backInServiceAt]);
const { from, to } =
(fitted(times));
const room = (to - from) / 3;
const first = Math.min(began ?? -Infinity, ...times);
return {
from: Math.max(Math.round(from - room), Math.ceil(first)),
to: Math.round(to + room),
};
}
return { Reading, windowAround };
})();
const in_views_header = (() => {
const { html } = in_html;
const { zoneName } = in_time_clock;
const { ALL, recordingOf } = in_words_recording;
const LASTS = ([
['1h', '1 hour'], ['6h', '6 hours'], ['', '24 hours'], ['7d', '7 days'],
['30d', '30 days'], ['all', 'all time'],
]);
const COPY = html`<svg width="13" height="13" viewBox="0 0 13 13"
aria-hidden="true"><path d="M1 1h8v8H1zM4 9v3h8V4H9" fill="none"
stroke="currentColor" stroke-width="1.3" /></svg>`;
const isList = ({ view }) => view === 'fleet' || view === 'jobs';
function Header({ page }) {
const { place } = page;
const now = page.now();
return html`
<header class="head">
<a class="brand" href=${page.href({ view: 'fleet' })}>
<span class="mark" aria-hidden="true"></span>Recorder</a>
<nav aria-label="Views">
<${View} page=${page} view="fleet" name="Fleet" />
<${View} page=${page} view="jobs" name="Jobs" />
<${View} page=${page} view="places" name="Places" />
<${View} page=${page} view="sources" name="Sources" />
</nav>
<${Clusters} page=${page} />
${isList(place) && html`<${Window} page=${page} />`}
<span class="room"></span>
<button type="button" class="search" aria-keyshortcuts="/"
onClick=${() => page.show('search')}>Search <kbd>/</kbd></button>
<button type="button" aria-keyshortcuts="u"
aria-label="Time zone: ${zoneName(place.zone, now)}. Switch"
onClick=${() => page.switchZone()}>${zoneName(place.zone, now)}</button>
<button type="button" aria-keyshortcuts="y" aria-label="Copy and links"
onClick=${() => page.show('hand')}>${COPY}</button>
<button type="button" aria-keyshortcuts="?" aria-label="Keys"
onClick=${() => page.show('help')}>?</button>
<${Recording} page=${page} />
</header>
`;
}
function View({ page, view, name }) {
const isHere = page.place.view === view;
return html`<a href=${page.href({ view })}
aria-current=${isHere ? 'page' : null}>${name}</a>`;
}
function Clusters({ page }) {
const all = page.status?.clusters ?? [];
const { away } = page;
if (all.length + away.length < 2) {
return html`<span class="cluster">${page.cluster?.name ?? ''}</span>`;
}
const isFleet = isList(page.place);
const isAll = isFleet && page.isOfAll
&& page.fleetLogs.length + away.length > 1;
return html`
<select aria-label="Cluster" value=${isAll ? ALL : page.cluster?.log.id}
onChange=${(event) =>
page.go({ log: event.target.value, cluster: '', entry: '' })}>
${isFleet && html`<option value=${ALL}>all clusters</option>`}
${all.map((one) => html`
<option key=${one.log.id} value=${one.log.id}>${one.name}${
one.log.kind === 'TAPE' ? ` (tape, log ${one.log.id})` : ''}</option>
`)}
${away.map(({ cluster }) => html`
<option key=${cluster} disabled>${cluster} (away)</option>`)}
</select>
`;
}
function Window({ page }) {
const { place } = page;
const isFixed = place.from !== null && place.to !== null;
return html`
<select aria-label="Window" value=${isFixed ? 'fixed' : place.last}
onChange=${(event) =>
page.go({ last: event.target.value, from: null, to: null })}>
${isFixed && html`<option value="fixed">custom window</option>`}
${LASTS.map(([value, name]) => html`
<option key=${value} value=${value}>${name}</option>`)}
</select>
`;
}
function Recording({ page }) {
const { status, cluster } = page;
const error = page.answers.of('overview').error
|| page.answers.of('pulse').error;
if (error !== '') {
return html`<span class="recording lost" role="status">
<i aria-hidden="true"></i>offline: ${error}</span>`;
}
if (cluster === null && status !== null && page.away.length > 0) {
const [first] = page.away;
const names = page.away.map((one) => one.cluster).join(', ');
return html`<span class="recording lost" role="status" title=${names}>
<i aria-hidden="true"></i>${page.away.length === 1
? `${first.cluster} is away: ${first.why}`
: `all ${page.away.length} clusters are away`}</span>`;
}
if (cluster === null && status !== null) return null;
if (cluster === null) {
return html`<span class="recording" role="status">
<i aria-hidden="true"></i>loading</span>`;
}
const { tone, says } = recordingOf(status, cluster, page.place.zone);
const isLive = tone === 'live' && page.ui.isLive;
return html`
<a class="recording ${isLive ? 'live' : tone}"
href=${page.href({ view: 'sources' })}>
<i aria-hidden="true"></i>${isLive ? 'live, ' : ''}${says}</a>
`;
}
return { Header };
})();
const in_views_states = (() => {
const { html } = in_html;
const { readInstant } = in_time_instant;
const { clock, dayAndClock, zoneName } = in_time_clock;
const { counted } = in_words_plain;
const { withoutEnd } = in_words_recording;
const GAPS_SHOWN = 20;
function Trouble({ answer, zone, onRetry }) {
if (answer.error === '') return null;
const old = answer.data === null
? ''
: ` Showing data from ${clock(answer.answeredAt, zone)}
${zoneName(zone, answer.answeredAt)}.`;
const again = answer.isFinal ? '' : ' Retrying automatically.';
const says = `${answer.error}${answer.error.endsWith('?') ? '' : '.'}`;
if (answer.code.startsWith('not_found')) {
return html`<p class="note trouble" role="alert">${says}${old}</p>`;
}
return html`
<p class="note trouble" role="alert">
Request failed: ${says}${old}${again}${' '}
<button type="button" onClick=${onRetry}>Retry</button>
</p>
`;
}
function Coverage({ coverage, zone, absent = [], cluster }) {
if (coverage.complete) {
return html`<p class="note complete">${
completeWords(absent, spanWords(coverage, zone))}</p>`;
}
const [longest, ...others] = [...coverage.gaps].sort(
(one, other) => lengthOf(other) - lengthOf(one));
const count = coverage.gaps.length + coverage.moreGaps;
const more = count - 1 - Math.min(others.length, GAPS_SHOWN);
return html`
<div class="note hatched" role="note">
<details>
<summary><strong>The recording ${cluster && `of ${cluster} `}is
incomplete here:</strong>
${' '}what is missing may change this answer.
${longest && ` ${counted(count, 'gap')}${
count > 1 ? ', the longest' : ''}: ${gapWords(longest, zone)}`}</summary>
<ul>
${others.slice(0, GAPS_SHOWN).map((gap) => html`
<li>${gapWords(gap, zone)}</li>`)}
${more > 0 && html`<li>and ${counted(more, 'gap')} more</li>`}
</ul>
</details>
</div>
`;
}
function Away({ away }) {
return away.map(({ cluster, why }) => html`
<div key=${cluster} class="note hatched" role="note">
<strong>${cluster} is away:</strong> ${why}. Nothing of it is shown here.
</div>
`);
}
function completeWords(absent, span) {
if (absent.length === 0) {
return `Complete${span}: no gaps affect this answer.`;
}
return `No gaps in what was recorded${span}. Not recorded: ${
absent.join(', ')}, which would show more.`;
}
function spanWords({ since, until }, zone) {
const from = readInstant(since ?? '');
const to = readInstant(until ?? '');
const begin = from === null ? '' : ` from ${dayAndClock(from, zone)}`;
return to === null ? begin : `${begin} until ${dayAndClock(to, zone)}`;
}
function lengthOf({ from, to }) {
const end = readInstant(to ?? '') ?? Infinity;
return end - (readInstant(from ?? '') ?? 0);
}
function gapWords(gap, zone) {
const from = readInstant(gap.from ?? '');
const to = readInstant(gap.to ?? '');
const since = from === null ? 'from the beginning' : dayAndClock(from, zone);
const until = to === null ? withoutEnd(gap.reason)
: `until ${clock(to, zone)}`;
const what = gap.resource ?? 'all resources';
return `${what}: ${since}, ${until}; ${gap.reason}`;
}
function Empty({ says, links }) {
return html`
<div class="empty">
<p>${says}</p>
<ul>
${links.map(({ href, says: text }) => html`
<li><a href=${href}>${text}</a></li>
`)}
</ul>
</div>
`;
}
function Waiting({ lines, says }) {
return html`
<div class="waiting" role="status">
<span class="hidden">${says}</span>
${Array.from({ length: lines }, (_, place) => html`
<div key=${place} aria-hidden="true"></div>
`)}
</div>
`;
}
function Figure({ value, says }) {
return html`<div class="figure"><b>${value}</b> <span>${says}</span></div>`;
}
return { Trouble, Coverage, Away, completeWords, Empty, Waiting, Figure };
})();
const in_page = (() => {
const { leadingTo, writePlace } = in_route_place;
const { needsOf, nodeSlot } = in_needs;
const { partOf } = in_parts;
const { Reading, windowAround } = in_reading;
const { readInstant } = in_time_instant;
const { logOf } = in_words_incident;
const { isWorkload } = in_words_workload;
const {
clusterOf, endOf, fleetOf, isNamed, knownOf, leftOutOf, searchedOf,
} = in_words_recording;
const AROUND = 600_000;
const PAGES_MAX = 10;
const UNTOUCHED = Object.freeze({
shown: (''),
text: '',
hit: 0,
chosen: -1,
older: 0,
hasFacets: false,
refused: '',
said: '',
isLive: false,
});
class Page extends Reading {
constructor(place, answers, world) {
super(place, answers);
this.world = world;
this.ui = { ...UNTOUCHED };
}
now() {
return this.world.now();
}
get status() {
return this.answers.of('overview').data?.status ?? null;
}
get cluster() {
return clusterOf(this.status, this.place);
}
get known() {
const { cluster } = this;
return cluster === null ? null : knownOf(cluster);
}
get isOfAll() {
return !isNamed(this.place);
}
get fleetLogs() {
return fleetOf(this.status, this.place).map(knownOf);
}
get open() {
return this.ui.older;
}
get away() {
return this.status?.away ?? super.away;
}
get leftOut() {
return leftOutOf(this.status, this.place);
}
get searchLogs() {
return searchedOf(this.status, this.known?.log ?? '').map(knownOf);
}
get hits() {
const { searchLogs: logs } = this;
if (this.ui.text === '') return [];
const hits = logs.flatMap(({ log, name }) =>
(this.answers.of(`search ${log}`).data?.search?.hits ?? []).map(
(hit) => (
{ ...hit, log, cluster: logs.length > 1 ? name : '' })));
const rank = (hit) =>
hit.kind === 'NODE' ? 0 : isWorkload(hit) ? 1 : 2;
return hits.sort((one, other) => rank(one) - rank(other));
}
get sources() {
return this.cluster?.sources ?? super.sources;
}
get end() {
return this.cluster ? endOf(this.cluster) : null;
}
get needs() {
return needsOf({
place: this.place,
known: this.known,
logs: this.fleetLogs,
searched: this.ui.shown === 'search' ? this.ui.text : '',
searchLogs: this.searchLogs,
cursorsOf: (slot) => this.cursorsOf(slot),
job: this.searchedJob,
struck: this.struck,
isHanding: this.ui.shown === 'hand',
partOf: (name) => partOf((name))?.needsOf ?? null,
});
}
cursorsOf(slot) {
const cursors = [];
for (const page of this.pagesOf(slot)) {
if (cursors.length >= this.open) break;
if (!page.hasPreviousPage) break;
cursors.push(page.startCursor);
}
return cursors;
}
get nodeSlot() {
return nodeSlot(this.place);
}
set(changes) {
this.ui = { ...this.ui, ...changes };
this.world.changed();
}
go(changes, { replace = false } = {}) {
this.place = { ...this.place, ...changes };
this.world.visit(writePlace(this.place), { replace });
this.world.changed();
}
arrive(place) {
const { view, name, sort } = this.place;
const isOther =
place.view !== view || place.name !== name || place.sort !== sort;
this.place = place;
this.ui = {
...UNTOUCHED, isLive: this.ui.isLive,
...(isOther ? {} : { older: this.ui.older, chosen: this.ui.chosen }),
};
this.world.changed();
}
href(to) {
return writePlace(leadingTo(this.place, to));
}
keep(changes) {
return writePlace({ ...this.place, ...changes });
}
objectLink({ kind, namespace, name }, log) {
return this.href({
...this.inLog(log),
view: 'object', kind: kind.toLowerCase(), namespace: namespace ?? '',
name,
});
}
workloadLink({ kind, namespace, name }, log) {
return this.href({
...this.inLog(log), view: 'workload', kind: kind.toLowerCase(), namespace,
name,
});
}
jobLink({ kind, namespace, name, log, lastEnding }) {
return this.href({
...this.inLog(log), view: 'workload', kind: kind.toLowerCase(), namespace,
name, verdict: lastEnding?.id ?? '',
});
}
inLog(log) {
return log && log !== this.known?.log || this.fleetLogs.length > 1
? { log: log ?? this.known?.log, cluster: '' } : {};
}
incidentLink({ id, verdicts: [verdict] }) {
const log = logOf(id);
const known =
this.fleetLogs.find((one) => one.log === log) ?? this.known;
return this.href({
...this.inLog(log),
view: 'node', name: verdict.node, verdict: verdict.id,
...windowAround(verdict, known?.began),
});
}
nodeLink(name, { at, verdicts }) {
const verdict = verdicts.find((one) => one.node === name);
const moment = readInstant(at) ?? 0;
return this.href({
view: 'node', name, verdict: verdict?.id ?? '',
...(verdict ? windowAround(verdict, this.known?.began)
: { from: moment - AROUND, to: moment + AROUND }),
});
}
hitLink(hit) {
const { log } = hit;
if (hit.kind === 'ENTRY') return this.keep({ entry: hit.entry });
if (hit.kind === 'NODE') {
return this.href({ ...this.inLog(log), view: 'node', name: hit.node });
}
return isWorkload(hit) ? this.workloadLink(hit.object, log)
: this.objectLink(hit.object, log);
}
get searchedJob() {
const hit = this.ui.shown === 'search' ? this.hits[this.ui.hit] : null;
return isWorkload(hit) ? { log: hit.log, name: hit.title } : null;
}
show(shown) {
this.set({ shown, text: '', hit: 0, refused: '' });
}
older() {
this.set({ older: Math.min(this.ui.older + 1, PAGES_MAX) });
}
}
return { Page };
})();
const in_app = (() => {
const { html } = in_html;
const { loadPart, partOf } = in_parts;
const { counted } = in_words_plain;
const { Header } = in_views_header;
const { Overlay, TokenForm } = in_views_overlays;
const { Away, Empty, Waiting } = in_views_states;
const COMPONENTS = {
fleet: 'Fleet', jobs: 'Jobs', node: 'Node', workload: 'Workload', compare: 'Compare',
object: 'KubernetesObject', places: 'Places', sources: 'Sources',
evidence: 'Evidence', handing: 'Handing', metrics: 'Metrics',
};
function Part({ page, name }) {
const part = partOf(name);
if (part) return html`<${part[COMPONENTS[name]]} page=${page} />`;
loadPart(name, () => page.set({}));
return html`<${Waiting} lines=${6} says="Loading the view" />`;
}
function App({ page }) {
const { place } = page;
const Instead = insteadOf(page);
return html`
<a class="skip" href="#main">To what happened</a>
<${Header} page=${page} />
<div class="body ${place.entry ? 'split' : ''}">
<main id="main" tabindex="-1">
${Instead ? html`<${Instead} page=${page} />` : html`
<${Part} key="${place.view} ${place.kind} ${place.namespace}
${place.name}" page=${page} name=${place.view} />`}
</main>
${place.entry && html`<${Part} page=${page} name="evidence" />`}
</div>
<${Overlay} page=${page} />
${page.ui.shown === 'hand' && html`<${Part} page=${page} name="handing" />`}
<div class="said" role="status">${page.ui.said}</div>
`;
}
function insteadOf(page) {
if (page.answers.of('overview').code === 'access.denied') return TokenForm;
if (page.place.view === 'fleet' && page.place.name) return NoPage;
return page.status && !page.cluster ? NoLog : null;
}
function NoPage({ page }) {
const { name } = page.place;
const last = name.split('/').filter(Boolean).at(-1) ?? '';
const links = [
{ href: page.href({ view: 'fleet' }), says: 'the fleet' },
{ href: page.href({ view: 'jobs' }), says: 'jobs' },
{ href: page.href({ view: 'node', name: last }), says: `the node ${last}` },
{ href: page.href({ view: 'sources' }), says: 'sources and gaps' },
];
return html`<${Empty} says="There is no page ${name}. Perhaps:" links=${links} />`;
}
function NoLog({ page }) {
const { clusters } = page.status;
const { away, place } = page;
if (clusters.length === 0 && away.length > 0) {
return html`<h1 id="title">No cluster responds</h1>
<${Away} away=${away} />`;
}
const links = clusters.map((one) => ({
href: page.href({ view: 'fleet', cluster: '', log: one.log.id }),
says: `${one.name}, log ${one.log.id}`,
}));
const says = clusters.length === 0
? 'Nothing recorded yet. Run recorder up to record your cluster, or recorder demo.'
: `No such log: ${place.log || place.cluster}. Available logs:`;
return html`<${Away} away=${away} /><${Empty} says=${says} links=${links} />`;
}
function titleOf(page) {
const { place } = page;
const found = findingOf(page);
const name = place.entry ? `${place.entry} · ` : '';
return `${name}${found} · Recorder`;
}
function findingOf(page) {
const { place } = page;
const object = [place.namespace, place.name].filter(Boolean).join('/');
if (place.view === 'sources') return 'Sources';
if (place.view === 'places') {
return place.name ? `${place.kind}/${place.name}` : 'Places';
}
if (place.view === 'jobs') {
const [newest] = page.jobs?.jobs ?? [];
return newest?.lastEnding ? `Jobs, ${newest.lastEnding.sentence}` : 'Jobs';
}
if (place.view === 'compare') {
return `${place.name} compared with ${place.other || 'another time'}`;
}
if (place.view === 'object') return `${place.kind} ${object}`;
if (place.view === 'workload') {
const why = page.answers.of('endings').data?.whyWorkload;
return page.openEnding?.sentence ?? why?.sentence ?? `${place.kind} ${object}`;
}
if (place.view === 'node') {
const verdict = page.openVerdict ?? page.verdicts.at(-1);
if (verdict) return verdict.sentence;
return page.node === null ? place.name : `${place.name}: no incidents`;
}
const { incidents } = page;
if (incidents.length === 0) return 'Fleet';
if (incidents.length === 1) return incidents[0].sentence;
return `${counted(incidents.length, 'incident')}, newest: ${
incidents[0].sentence}`;
}
return { Part, App, titleOf };
})();
const in_doing = (() => {
const { light } = in_lighting;
const { Page } = in_page;
const { partOf } = in_parts;
const { POSTMORTEM } = in_ask_queries;
const { nameOf } = in_needs;
const { writeShort } = in_time_instant;
const { readAsked } = in_time_asked;
const { centred, panned, zoomed } = in_time_window;
const { moved } = in_timeline_arranging;
const PAN_SHARE = 0.25;
const ZOOM_FACTOR = 0.6;
const TIMED = new Set(['node', 'workload', 'compare']);
class DoingPage extends Page {
get window() {
const { view } = this.place;
if (!TIMED.has(view)) return null;
return view === 'workload' ? this.workloadWindow : this.nodeWindow;
}
act({ action, by = 0 }) {
if (['search', 'help', 'goto', 'hand'].includes(action)) {
this.show((action));
} else if (action === 'zone') this.switchZone();
else if (action === 'copy') this.copy();
else if (action === 'close') this.close();
else if (action === 'next') this.choose(by);
else if (action === 'open') this.openChosen();
else if (action === 'step') this.step(by);
else if (action === 'record') this.record(by);
else this.moveWindow(action, by);
}
moveWindow(action, by) {
const { window } = this;
if (window === null) return;
const middle = (window.from + window.to) / 2;
const to = {
pan: () => panned(window, by * PAN_SHARE),
zoom: () => zoomed(window, by > 0 ? ZOOM_FACTOR : 1 / ZOOM_FACTOR, middle),
fit: () => this.fit,
}[action]?.();
if (to) this.go(to, { replace: action !== 'fit' });
else if (action === 'fit') this.go({ from: null, to: null });
}
switchZone() {
const zone = this.place.zone === 'utc' ? 'local' : 'utc';
this.go({ zone }, { replace: true });
}
close() {
if (this.ui.shown !== '') this.show('');
else if (this.place.entry !== '') this.go({ entry: '' });
}
get choices() {
const { view } = this.place;
if (view === 'fleet') return this.incidents;
if (view === 'jobs') return this.jobs?.jobs ?? [];
return view === 'node' ? this.factsInWindow : [];
}
choose(by) {
const { length } = this.choices;
if (length === 0) return;
const chosen = Math.min(Math.max(this.ui.chosen + by, 0), length - 1);
this.set({ chosen });
if (this.place.view !== 'node') return;
const { entry } = this.choices[chosen];
light(entry);
if (this.place.entry !== '') this.go({ entry }, { replace: true });
}
openChosen() {
const found = this.choices[this.ui.chosen];
if (found === undefined) return;
if (this.place.view === 'node') this.go({ entry: found.entry });
else {
this.world.follow(this.place.view === 'jobs' ? this.jobLink(found)
: this.incidentLink(found));
}
}
step(number) {
if (this.place.view !== 'node') return;
const step = this.openVerdict?.steps[number - 1];
if (step) this.go({ entry: step.entries[0] });
}
record(by) {
const { place, openVerdict } = this;
if (place.view !== 'node' || openVerdict === null) return;
const { steps, evidence } = openVerdict;
const names = [...new Set([
...steps.flatMap((step) => step.entries),
...evidence.map((sign) => sign.entry),
])];
const next = names.indexOf(place.entry) + by;
const entry = place.entry === '' ? names.at(by > 0 ? 0 : -1) : names[next];
if (entry !== undefined) this.go({ entry }, { replace: place.entry !== '' });
}
goTo(text) {
const { window, place } = this;
const now = this.known?.until ?? this.now();
const near = window ? (window.from + window.to) / 2 : now;
const at = readAsked(text, { now, near, zone: place.zone });
if (at === null) {
this.set({ refused: `“${text}” is not a time: try 03:14, 2h or a date` });
return;
}
this.show('');
if (place.view === 'object') this.go({ to: at });
else {
const around = window ?? { from: near - 1_800_000, to: near + 1_800_000 };
this.go({ ...centred(around, at), last: '' });
}
}
lane(does, id, shown) {
const { folded, opened, pinned } = this.place;
const without = (list) =>
list.filter((one) => one !== id);
const changes = {
fold: () => ({
folded: [...without(folded), id], opened: without(opened),
pinned: without(pinned),
}),
open: () => ({
folded: without(folded), opened: [...without(opened), id],
}),
pin: () => ({
pinned: pinned.includes(id) ? without(pinned) : [...pinned, id],
}),
up: () => ({ order: moved(shown, id, -1) }),
down: () => ({ order: moved(shown, id, 1) }),
};
this.go(changes[does](), { replace: true });
}
openHit(hit) {
if (hit === undefined) return;
const link = this.hitLink(hit);
this.show('');
this.world.follow(link);
}
chooseHit(event, count) {
const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
if (by === undefined || count === 0) return;
event.preventDefault();
this.set({ hit: (this.ui.hit + by + count) % count });
}
async copy() {
const { place, answers } = this;
const isOpened = place.entry !== '' && answers.of('entry').data?.entry;
const part = partOf(isOpened ? 'evidence' : place.view);
if (part?.markdownOf) {
await this.copyText(part.markdownOf(this));
} else if (place.view === 'node' || place.view === 'workload') {
const report = await this.report();
if (report) await this.copyText(report.markdown);
} else await this.copyText(location.href);
}
async handOver(text) {
this.show('');
await (text === null ? this.copy() : this.copyText(text));
}
async save() {
const report = await this.report();
if (!report) return;
this.world.save(`postmortem-${this.place.name}.html`, report.html);
this.set({ said: 'Saved the postmortem.' });
}
async report() {
const { place } = this;
const isNode = place.view === 'node';
const open = isNode ? this.openVerdict : this.openEnding;
const { from, to } = isNode ? this.nodeWindow : this.workloadWindow;
const variables = {
log: this.known?.log ?? null,
subject: open?.id ?? nameOf(isNode ? { ...place, kind: 'node' } : place),
ofWorkload: !isNode,
since: open ? null : writeShort(from),
until: open ? null : writeShort(to),
};
try {
return (await this.world.post(POSTMORTEM, variables)).postmortem;
} catch (error) {
const why = error instanceof Error ? error.message : String(error);
this.set({ said: `Could not create the report: ${why}.` });
return null;
}
}
async copyText(text) {
const isCopied = await this.world.copy(text);
this.set({
said: isCopied ? 'Copied.' : 'The browser blocked copying.',
});
}
}
return { DoingPage };
})();
const in_main = (() => {
const { App, titleOf } = in_app;
const { Answers } = in_ask_answers;
const { post } = in_ask_post;
const { takeToken } = in_ask_token;
const { DoingPage } = in_doing;
const { copyText, saveText } = in_handing;
const { html, render } = in_html;
const { following } = in_live;
const { nameOf } = in_needs;
const { isLoadingPart } = in_parts;
const { actionOf } = in_route_keys;
const { readPlace } = in_route_place;
const { windowAround } = in_reading;
takeToken();
const root = (document.getElementById('page'));
let isDue = false;
function changed() {
if (isDue) return;
isDue = true;
queueMicrotask(() => {
isDue = false;
show();
});
}
const answers = new Answers({
post,
changed,
now: () => Date.now(),
later: (does, wait) => setTimeout(does, wait),
forget: (timer) => clearTimeout(timer),
});
const here = () => location.pathname + location.search;
const page = new DoingPage(readPlace(here()), answers, {
changed,
now: () => Date.now(),
post: (query, variables) => post(query, variables, new AbortController().signal),
copy: copyText,
save: saveText,
visit: (address, { replace }) => {
if (address === here()) return;
if (replace) history.replaceState(null, '', address);
else history.pushState(null, '', address);
},
follow: (address) => leave(address),
});
function leave(address) {
const before = page.place;
history.pushState(null, '', address);
page.arrive(readPlace(here()));
const { view, name } = page.place;
if (view === before.view && name === before.name) return;
scrollTo(0, 0);
document.getElementById('main')?.focus({ preventScroll: true });
}
const follow = following(page);
function show() {
chooseWindow();
chooseWorkload();
follow();
answers.want(page.needs);
render(html`<${App} page=${page} />`, root);
document.title = titleOf(page);
document.body.dataset.state = stateOf();
document.querySelector('.chosen')?.scrollIntoView({ block: 'nearest' });
}
function chooseWindow() {
const { place } = page;
const latest = answers.of('latest');
const isAsked = latest.dataKey !== '' && latest.key === latest.dataKey;
if (!['node', 'compare'].includes(place.view) || place.from !== null) return;
if (!isAsked || page.known === null) return;
if (JSON.parse(latest.dataKey)[1].node !== place.name) return;
const verdict = latest.data.why?.verdicts.at(-1);
const window = verdict
? windowAround(verdict, page.known.began)
: page.nodeWindow;
page.go(window, { replace: true });
}
function chooseWorkload() {
const { place } = page;
const { data, key, dataKey } = answers.of('endings');
const why = data?.whyWorkload;
if (place.view !== 'workload' || !why || why.pod || key !== dataKey) return;
const { kind, namespace, name } = why.workload;
const [asked] = place.kind.split('.');
const isIt = kind.toLowerCase() === asked.toLowerCase() && name === place.name;
if (isIt || JSON.parse(dataKey)[1].name !== nameOf(place)) return;
page.go({ kind: kind.toLowerCase(), namespace, name }, { replace: true });
page.set({ said: why.note ?? '' });
}
function stateOf() {
const found = page.needs
.map(({ slot, isAside }) => ({ ...answers.of(slot), isAside }))
.filter(({ isAside, isFinal }) => !(isAside && isFinal));
if (found.some(({ error }) => error !== '')) return 'failed';
const isReady = found.every(({ key, dataKey }) => key !== '' && key === dataKey);
return isReady && !isLoadingPart() ? 'ready' : 'asking';
}
addEventListener('popstate', () => page.arrive(readPlace(here())));
addEventListener('keydown', (event) => {
const within = (event.target).tagName;
if (page.ui.shown !== '' && event.key !== 'Escape') return;
const asked = actionOf(event, within);
if (asked === null) return;
event.preventDefault();
page.act(asked);
});
document.addEventListener('click', (event) => {
if (event.button !== 0 || event.defaultPrevented) return;
if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
const link = (event.target).closest('a');
if (link === null || link.origin !== location.origin || link.download) return;
if (link.getAttribute('href')?.startsWith('#')) return;
event.preventDefault();
leave(link.pathname + link.search);
});
addEventListener('online', () => answers.retry());
changed();
})();
const shared = { in_app, in_ask_fragments, in_html, in_lighting, in_needs, in_time_asked, in_time_clock, in_time_instant, in_time_window, in_timeline_arranging, in_timeline_lane, in_views_overlays, in_views_states, in_words_author, in_words_incident, in_words_plain, in_words_recording, in_words_shown, in_words_workload };
const joined = async (files, name) => (await Promise.all(files))
.reduce((all, one) => ({ ...all, ...one.default(all) }), shared)[name];

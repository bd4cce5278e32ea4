let made;
export default ({ in_ask_fragments, in_html, in_lighting, in_needs, in_time_axis, in_time_clock, in_time_instant, in_time_window, in_timeline_lane, in_words_recording, in_words_shown, in_words_workload }) => made ??= (() => {
const in_needs_metrics = (() => {
const { LOG, OF_LOG } = in_ask_fragments;
const { logOf, written } = in_needs;
const { readInstant } = in_time_instant;
const METRICS = `query Metrics(${LOG}, $node: String!,
$since: DateTime, $until: DateTime) {
metrics(${OF_LOG}, nodes: [$node], since: $since, until: $until) {
kept { entry node peerOf from to trouble
charts { name says low high missing lines { thing path } }
}
}
}`;
function metricsOf({ known, struck }) {
const at = readInstant(struck?.at ?? '');
if (!struck || at === null) return [];
return [{
slot: 'metrics', query: METRICS, isAside: true,
variables: {
...logOf(known), node: struck.node, since: written(at),
until: written(at + 1000),
},
}];
}
return { metricsOf };
})();
const in_timeline_detail = (() => {
const { firstAtOrAfter } = in_timeline_lane;
const MARK_PIXELS = 2;
function room(width) {
const length = Math.ceil(width) + 4;
return {
count: 0,
x: new Int32Array(length),
end: new Int32Array(length),
tone: new Uint8Array(length),
size: new Int32Array(length),
first: new Int32Array(length),
};
}
function mergeMarks(ready, window, width, into) {
const { markAt, markTone } = ready;
const scale = width / (window.to - window.from);
const end = markAt.length;
let place = firstAtOrAfter(markAt, window.from);
let count = 0;
for (; place < end && markAt[place] <= window.to; place += 1) {
const x = Math.round((markAt[place] - window.from) * scale);
const last = count - 1;
if (last >= 0 && x - into.x[last] < MARK_PIXELS) {
into.size[last] += 1;
if (markTone[place] > into.tone[last]) {
into.tone[last] = markTone[place];
into.first[last] = place;
}
continue;
}
into.x[count] = x;
into.tone[count] = markTone[place];
into.size[count] = 1;
into.first[count] = place;
count += 1;
}
into.count = count;
}
function mergeSpans(ready, window, width, into) {
const { spanFrom, spanTo, spanTone } = ready;
const scale = width / (window.to - window.from);
let count = 0;
for (let place = 0; place < spanFrom.length; place += 1) {
if (spanFrom[place] >= window.to) break;
if (spanTo[place] <= window.from) continue;
const from = Math.max(spanFrom[place], window.from);
const to = Math.min(spanTo[place], window.to);
const x = Math.round((from - window.from) * scale);
const end = Math.max(Math.round((to - window.from) * scale), x + 1);
const last = count - 1;
if (last >= 0 && end <= into.end[last] && end - x <= 1) {
into.size[last] += 1;
if (spanTone[place] > into.tone[last]) into.tone[last] = spanTone[place];
continue;
}
if (count === into.x.length) break;
into.x[count] = x;
into.end[count] = end;
into.tone[count] = spanTone[place];
into.size[count] = 1;
into.first[count] = place;
count += 1;
}
into.count = count;
}
const STEP_PIXELS = 17;
const DIGIT_PIXELS = 7;
function stepsTogether(steps) {
const groups = [];
for (const { x, step } of steps) {
const last = groups.at(-1);
if (last !== undefined && x - last.end < STEP_PIXELS) {
last.end = Math.max(last.end, x);
last.steps.push(step);
} else groups.push({ x, end: x, steps: [step] });
}
return groups.map(({ x, end, steps: several }) => {
const text = [...new Set(several)].sort((a, b) => a - b).join(' ');
const needed = Math.max(text.length - 2, 0) * DIGIT_PIXELS;
const more = Math.max(needed - (end - x), 0) / 2;
return { x: x - more, end: end + more, text };
});
}
function roomBeside(numbers, span, beside) {
const room = { x: span.x + beside, end: span.end - beside };
for (const { x, end } of numbers) {
if (end + beside <= room.x || x - beside >= room.end) continue;
if (x - room.x < 2 * STEP_PIXELS) room.x = end + beside;
else room.end = x - beside;
}
return room;
}
return { room, mergeMarks, mergeSpans, stepsTogether, roomBeside };
})();
const in_timeline_gestures = (() => {
const { panned, timeAt, zoomed } = in_time_window;
const CLICK_PIXELS = 4;
const WHEEL_SPEED = 0.0022;
const LINE_PIXELS = 16;
function watchHands(element, hands) {
const stop = new AbortController();
const { signal } = stop;
let drag = null;
element.addEventListener('pointerdown', (event) => {
if (event.button !== 0) return;
drag = { x: event.offsetX, from: hands.window(), far: false };
element.setPointerCapture(event.pointerId);
}, { signal });
element.addEventListener('pointermove', (event) => {
hands.point(event.offsetX, event.offsetY);
if (drag === null) return;
const by = event.offsetX - drag.x;
if (!drag.far && Math.abs(by) < CLICK_PIXELS) return;
drag.far = true;
element.classList.add('dragging');
hands.move(panned(drag.from, -by / hands.width()));
}, { signal });
element.addEventListener('pointerup', (event) => {
if (drag?.far) hands.settle();
else if (drag) hands.click(event.offsetX, event.offsetY);
drag = null;
element.classList.remove('dragging');
}, { signal });
element.addEventListener('pointercancel', () => {
drag = null;
element.classList.remove('dragging');
}, { signal });
element.addEventListener('pointerleave', () => hands.point(null, 0), {
signal,
});
element.addEventListener('wheel', (event) => onWheel(event, hands), {
signal,
passive: false,
});
return () => stop.abort();
}
function onWheel(event, hands) {
const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PIXELS : 1;
const isZoom = event.ctrlKey || event.metaKey;
const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
const isPan = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
if (!isZoom && !isPan) return;
event.preventDefault();
const window = hands.window();
if (isZoom) {
const factor = Math.exp(event.deltaY * unit * WHEEL_SPEED);
const about = timeAt(window, hands.width(), event.offsetX);
hands.move(zoomed(window, factor, about));
} else {
hands.move(panned(window, (sideways * unit) / hands.width()));
}
hands.settle();
}
return { watchHands };
})();
const in_timeline_hit = (() => {
const { timeAt } = in_time_window;
const { firstAtOrAfter } = in_timeline_lane;
const REACH_PIXELS = 7;
function hitAt(ready, window, width, x) {
const at = timeAt(window, width, x);
const reach = (REACH_PIXELS / width) * (window.to - window.from);
const marks = marksNear(ready, at, reach);
if (marks.length > 0) {
const [best] = marks;
return { ...best, more: marks.length - 1 };
}
const unseen = ready.lane.unseen.find((one) => at >= one.from && at < one.to);
if (unseen !== undefined) {
return { label: unseen.label, entry: null, at, more: 0 };
}
const span = ready.lane.spans.findLast(
(one) => at >= one.from - reach / 4 && at < one.to + reach / 4,
);
if (span === undefined) return null;
return { label: span.label, entry: span.entry, at: span.from, more: 0 };
}
function marksNear({ lane, markAt }, at, reach) {
const found = [];
let place = firstAtOrAfter(markAt, at - reach);
for (; place < markAt.length && markAt[place] <= at + reach; place += 1) {
found.push(lane.marks[place]);
}
const rank = (mark) =>
Math.abs(mark.at - at) - (mark.step === undefined ? 0 : 2 * reach);
return found.sort((one, other) => rank(one) - rank(other));
}
return { hitAt };
})();
const in_timeline_names = (() => {
const { html } = in_html;
function LaneNames({ lanes, pinned, onLane }) {
return html`
<ol class="names" aria-label="Lanes">
${lanes.map(({ lane }, place) => {
const isPinned = pinned.includes(lane.id);
const previous = lanes[place - 1]?.lane.group;
const isNew = previous !== undefined && previous !== lane.group;
return html`
<li key=${lane.id} class="${isNew ? 'group' : ''}
${isPinned ? 'pinned' : ''}">
<span class="name" title=${lane.title}>${lane.title}</span>
<span class="does">
<${Does} does="pin" sign=${isPinned ? '◆' : '◇'} id=${lane.id}
says=${isPinned ? 'unpin' : 'pin to top'} onLane=${onLane} />
<${Does} does="up" sign="↑" id=${lane.id}
says="move up" onLane=${onLane} />
<${Does} does="down" sign="↓" id=${lane.id}
says="move down" onLane=${onLane} />
<${Does} does="fold" sign="−" id=${lane.id}
says="collapse" onLane=${onLane} />
</span>
</li>
`;
})}
</ol>
`;
}
function Does({ does, sign, id, says, onLane }) {
return html`
<button type="button" title=${says} aria-label="${says}: ${id}"
onClick=${() => onLane(does, id)}>${sign}</button>
`;
}
return { LaneNames };
})();
const in_timeline_unseen = (() => {
const { readInstant } = in_time_instant;
const { BEHIND_MAX } = in_words_recording;
const NODE = ['v1/nodes'];
const ALL = ['v1/nodes', 'v1/pods', 'v1/events'];
const RESTS_ON = ({
node: NODE,
conditions: NODE,
taints: NODE,
actors: ['v1/nodes', 'v1/pods'],
events: ['v1/events'],
workloads: ['v1/pods'],
recorder: ALL,
});
function covered(lane, gaps, sources, end) {
const rests = RESTS_ON[lane.group] ?? [];
const concern = ({ resource }) =>
resource === null || rests.includes(resource);
return {
...lane,
unseen: [
...gaps.filter(concern).map(unseenOf),
...edgesOf(
sources.filter(({ resource }) => rests.includes(resource)), end),
],
};
}
function unseenOf(gap) {
return {
from: readInstant(gap.from ?? '') ?? -Infinity,
to: readInstant(gap.to ?? '') ?? Infinity,
label: `gap: ${gap.resource ?? 'all resources'}, ${gap.reason}`,
};
}
function edgesOf(sources, end) {
const began = instants(sources, 'beganAt');
const until = instants(sources, 'vouchedUntil');
const edges = [];
if (began.length > 0) {
const to = Math.max(...began);
edges.push({ from: -Infinity, to, label: 'before recording started' });
}
if (until.length > 0) {
const proven = Math.min(...until);
const isComplete = end !== null && end - proven <= BEHIND_MAX;
const from = isComplete ? Math.max(proven, end) : proven;
edges.push({ from, to: Infinity, label: 'not confirmed complete yet' });
}
return edges;
}
function instants(sources, name) {
return sources
.map((source) => readInstant(source[name] ?? ''))
.filter((at) => at !== null);
}
return { covered };
})();
const in_timeline_palette = (() => {
const { TONES } = in_timeline_lane;
function paletteOf(element) {
const style = getComputedStyle(element);
const colour = (name) =>
style.getPropertyValue(`--${name}`).trim();
const tones = TONES.map((tone) => colour(`tone-${tone}`));
return {
tones,
onTones: tones.map(readableOn),
ink: colour('ink'),
soft: colour('soft'),
line: colour('line'),
ground: colour('ground'),
hatch: colour('hatch'),
focus: colour('focus'),
font: style.fontFamily,
};
}
const MIDDLE = 0.18;
const SHARES = [0.2126, 0.7152, 0.0722];
function readableOn(colour) {
const light = SHARES.reduce((sum, share, place) => {
const part = parseInt(colour.slice(1 + 2 * place, 3 + 2 * place), 16) / 255;
const linear = part <= 0.04 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
return sum + share * linear;
}, 0);
return light > MIDDLE ? '#101215' : '#ffffff';
}
const TILE = 8;
const tiles = new Map();
function hatchOf(context, palette, scale) {
const key = `${palette.hatch} ${palette.ground} ${scale}`;
let tile = tiles.get(key);
if (tile === undefined) {
tile = drawnTile(palette, Math.round(TILE * scale), scale);
tiles.set(key, tile);
}
const pattern = context.createPattern(tile, 'repeat');
pattern?.setTransform(new DOMMatrix().scale(1 / scale));
return pattern;
}
function drawnTile(palette, size, scale) {
const tile = document.createElement('canvas');
tile.width = size;
tile.height = size;
const context = tile.getContext('2d');
if (context === null) return tile;
context.fillStyle = palette.ground;
context.fillRect(0, 0, size, size);
context.strokeStyle = palette.hatch;
context.lineWidth = 1.4 * scale;
context.lineCap = 'square';
context.beginPath();
for (const shift of [-size, 0, size]) {
context.moveTo(shift, size);
context.lineTo(shift + size, 0);
}
context.stroke();
return tile;
}
return { paletteOf, readableOn, hatchOf };
})();
const in_timeline_paint = (() => {
const { pixelOf } = in_time_window;
const {
mergeMarks, mergeSpans, roomBeside, stepsTogether,
} = in_timeline_detail;
const { TONES } = in_timeline_lane;
const LANE_PIXELS = 28;
const QUIET = new Set([TONES.indexOf('plain'), TONES.indexOf('absent')]);
const SERVICE = TONES.indexOf('service');
const HEIGHTS = TONES.map((_, tone) => {
if (QUIET.has(tone)) return 2;
return tone === SERVICE ? 8 : 16;
});
const LABEL_ROOM = 48;
const LABEL_INSET = 12;
const SPARSE = 9;
const STEP_RADIUS = 8;
const DASHES = [3, 5];
function paint(picture, lanes, ticks) {
const { context, palette, width, height, scroll } = picture;
context.fillStyle = palette.ground;
context.fillRect(0, 0, width, height);
paintTicks(picture, ticks);
const first = Math.max(0, Math.floor(scroll / LANE_PIXELS));
const last = Math.min(
lanes.length,
Math.ceil((scroll + height) / LANE_PIXELS),
);
for (let place = first; place < last; place += 1) {
const top = place * LANE_PIXELS - scroll;
const numbers = numbersOf(picture, lanes[place]);
paintSpans(picture, lanes[place], top, numbers);
paintUnseen(picture, lanes[place], top);
paintMarks(picture, lanes[place], top);
paintSteps(picture, lanes[place], top, numbers);
}
}
function paintTicks(picture, ticks) {
const { context, palette, window, width, height } = picture;
context.fillStyle = palette.line;
for (const { at } of ticks) {
context.fillRect(Math.round(pixelOf(window, width, at)), 0, 1, height);
}
}
function paintSpans(picture, ready, top, numbers) {
const { context, palette, merged } = picture;
mergeSpans(ready, picture.window, picture.width, merged);
for (let place = 0; place < merged.count; place += 1) {
const tone = merged.tone[place];
const high = HEIGHTS[tone];
const x = merged.x[place];
const wide = merged.end[place] - x;
const y = top + (LANE_PIXELS - high) / 2;
context.fillStyle = palette.tones[tone];
if (wide > 6 && high > 4) roundedBar(context, x, y, wide, high);
else context.fillRect(x, y, wide, high);
if (wide > LABEL_ROOM && high === 16) {
const span = ready.lane.spans[merged.first[place]];
context.fillStyle = palette.onTones[tone];
const room = roomBeside(numbers, { x, end: x + wide }, LABEL_INSET);
paintLabel(picture, span.label, room, top);
}
}
}
function roundedBar(context, x, y, wide, high) {
context.beginPath();
context.roundRect(x, y, wide - 1, high, 3);
context.fill();
}
function paintLabel(picture, label, room, top) {
const { context } = picture;
const shown = shortened(picture, label, room.end - room.x);
if (shown === '') return;
context.fillText(shown, room.x, top + LANE_PIXELS / 2 + 0.5);
}
function shortened(picture, label, wide) {
const { context, widths } = picture;
let measured = widths.get(label);
if (measured === undefined) {
measured = context.measureText(label).width;
widths.set(label, measured);
}
if (measured <= wide) return label;
const kept = Math.floor((wide / measured) * label.length) - 1;
return kept < 3 ? '' : `${label.slice(0, kept)}…`;
}
function paintMarks(picture, ready, top) {
const { context, palette, merged } = picture;
mergeMarks(ready, picture.window, picture.width, merged);
const middle = top + LANE_PIXELS / 2;
let tone = -1;
for (let place = 0; place < merged.count; place += 1) {
if (merged.tone[place] !== tone) {
tone = merged.tone[place];
context.fillStyle = palette.tones[tone];
}
const x = merged.x[place];
if (isSparse(merged, place)) {
diamond(context, x, middle, merged.size[place] > 1 ? 6 : 4.5);
continue;
}
const half = Math.min(4 + merged.size[place], 10);
context.fillRect(x - 1, middle - half, 2, 2 * half);
}
}
function isSparse(merged, place) {
const before = place === 0 ? -SPARSE : merged.x[place - 1];
const after =
place + 1 === merged.count ? Infinity : merged.x[place + 1];
return merged.x[place] - before >= SPARSE && after - merged.x[place] >= SPARSE;
}
function diamond(context, x, y, half) {
context.beginPath();
context.moveTo(x, y - half);
context.lineTo(x + half, y);
context.lineTo(x, y + half);
context.lineTo(x - half, y);
context.fill();
}
function paintUnseen(picture, ready, top) {
const { context, window, width, hatch } = picture;
if (hatch === null) return;
for (const { from, to } of ready.lane.unseen) {
if (from >= window.to || to <= window.from) continue;
const x = Math.max(pixelOf(window, width, from), 0);
const end = Math.min(pixelOf(window, width, to), width);
context.fillStyle = hatch;
context.fillRect(x, top + 1, Math.max(end - x, 2), LANE_PIXELS - 2);
if (ready.lane.group !== 'recorder') paintAssumed(picture, top, { x, end });
}
}
function paintAssumed({ context, palette, merged }, top, unseen) {
const y = top + LANE_PIXELS / 2;
context.setLineDash(DASHES);
context.lineWidth = 1;
for (let place = 0; place < merged.count; place += 1) {
const x = Math.max(merged.x[place], unseen.x);
const end = Math.min(merged.end[place], unseen.end);
if (end <= x) continue;
context.strokeStyle = palette.tones[merged.tone[place]];
context.beginPath();
context.moveTo(x, y);
context.lineTo(end, y);
context.stroke();
}
context.setLineDash([]);
}
const isSeen = ({ window }, { at }) => at >= window.from && at <= window.to;
function numbersOf(picture, { steps }) {
const seen = steps.filter((mark) => isSeen(picture, mark));
return stepsTogether(seen.map((mark) => ({
x: pixelOf(picture.window, picture.width, mark.at), step: mark.step ?? 0,
})));
}
function paintSteps(picture, ready, top, numbers) {
const { context, palette, window, width, lit } = picture;
const y = top + LANE_PIXELS / 2;
for (const { x, end, text } of numbers) {
pill(context, palette, { x, end, y, text });
}
if (lit === null) return;
for (const mark of ready.lane.marks) {
if (mark.entry !== lit || !isSeen(picture, mark)) continue;
ring(context, palette, pixelOf(window, width, mark.at), y);
}
}
function pill(context, palette, { x, end, y, text }) {
const wide = end - x + 2 * STEP_RADIUS;
context.fillStyle = palette.ink;
context.beginPath();
context.roundRect(
x - STEP_RADIUS, y - STEP_RADIUS, wide, 2 * STEP_RADIUS, STEP_RADIUS);
context.fill();
context.fillStyle = palette.ground;
context.textAlign = 'center';
context.fillText(text, (x + end) / 2, y + 0.5);
context.textAlign = 'left';
}
function ring(context, palette, x, y) {
context.strokeStyle = palette.focus;
context.lineWidth = 3;
context.beginPath();
context.arc(x, y, STEP_RADIUS + 3, 0, 2 * Math.PI);
context.stroke();
}
return { LANE_PIXELS, paint };
})();
const in_timeline_ofnode = (() => {
const { readInstant } = in_time_instant;
const { phaseOf } = in_words_workload;
const { covered } = in_timeline_unseen;
const SERVICE = {
IN_SERVICE: { tone: 'service', label: 'in service' },
DEGRADED: { tone: 'degraded', label: 'degraded' },
CORDONED: { tone: 'cordoned', label: 'cordoned or tainted' },
NOT_READY: { tone: 'notready', label: 'not ready' },
UNKNOWN: { tone: 'unknown', label: 'not reporting to the control plane' },
ABSENT: { tone: 'absent', label: 'Node does not exist' },
};
const ACTORS_MAX = 24;
const PODS_MAX = 150;
const instant = (text, without) =>
text === null ? without : (readInstant(text) ?? without);
const edges = ({ from, to }) => ({
from: instant(from, -Infinity),
to: instant(to, Infinity),
});
function lanesOfNode(timeline, verdicts, sources, end) {
const lanes = [
serviceLane(timeline),
...conditionLanes(timeline),
bootLane(timeline),
...taintLanes(timeline),
...actorLanes(timeline),
eventLane(timeline),
...podLanes(timeline),
...dpuLanes(timeline),
];
const numbered = withSteps(lanes, verdicts);
const { gaps } = timeline;
return [...numbered, recorderLane()].map(
(lane) => covered(lane, gaps, sources, end));
}
function emptyLane(id, title, group) {
return ({
id, title, group, spans: [], marks: [], unseen: [],
});
}
function serviceLane(timeline) {
const lane = emptyLane('service', 'service', 'node');
for (const span of timeline.service) {
const { tone, label } = SERVICE[span.state];
lane.spans.push({ ...edges(span), tone, label, entry: span.entry });
}
return lane;
}
function conditionTone(span) {
if (span.type === 'Ready') {
if (span.status === 'True') return 'service';
return span.status === 'False' ? 'notready' : 'unknown';
}
if (span.status === 'Unknown') return 'unknown';
if (span.isFault) return 'degraded';
return 'plain';
}
function conditionLanes(timeline) {
const lanes = new Map();
const readyFirst = [...timeline.conditions].sort(
(one, other) =>
Number(other.type === 'Ready') - Number(one.type === 'Ready'),
);
for (const span of readyFirst) {
const id = `condition ${span.type}`;
const lane = lanes.get(id) ?? emptyLane(id, span.type, 'conditions');
const why = span.reason ? `: ${span.reason}` : '';
const label = `${span.status}${why}`;
const tone = conditionTone(span);
lane.spans.push({ ...edges(span), tone, label, entry: span.entry });
lanes.set(id, lane);
}
return [...lanes.values()];
}
function bootLane(timeline) {
const lane = emptyLane('boot', 'boot', 'node');
timeline.boots.forEach((span, n) => {
const label = `boot ${span.bootId}`;
const { entry } = span;
lane.spans.push({ ...edges(span), tone: 'calm', label, entry });
if (n > 0 && span.from !== null) {
const at = instant(span.from, 0);
lane.marks.push({ at, tone: 'strong', label, entry });
}
});
return lane;
}
function taintLanes(timeline) {
const lanes = new Map();
const cordon = emptyLane('cordon', 'cordoned', 'taints');
for (const span of timeline.cordons) {
const label = `cordoned${by(span.actor)}`;
cordon.spans.push({
...edges(span), tone: 'cordoned', label, entry: span.entry,
});
}
if (cordon.spans.length > 0) lanes.set(cordon.id, cordon);
for (const span of timeline.taints) {
const id = `taint ${span.key}:${span.effect}`;
const title = `${shortKey(span.key)}:${span.effect}`;
const lane = lanes.get(id) ?? emptyLane(id, title, 'taints');
const value = span.value ? `=${span.value}` : '';
const label = `tainted${value}${by(span.actor)}`;
lane.spans.push({
...edges(span), tone: 'cordoned', label, entry: span.entry,
});
lanes.set(id, lane);
}
return [...lanes.values()];
}
function actorTitle(actor) {
const [, namespace, name] = /^system:serviceaccount:([^:]+):(.+)$/.exec(actor) ?? [];
return name ? `${name} (${namespace})` : actor;
}
const by = (actor) => (actor ? `, by ${actor}` : '');
const shortKey = (key) => key.replace(/^node\.kubernetes\.io\//, '');
const isEvent = (fact) => fact.kind === 'EVENT';
function markOf(fact) {
return {
at: instant(fact.at, 0),
tone: isEvent(fact) && fact.type === 'Warning' ? 'degraded' : 'strong',
label: fact.says,
entry: fact.entry,
};
}
function actorLanes(timeline) {
const lanes = new Map();
for (const fact of timeline.facts) {
if (fact.actor === null || isEvent(fact)) continue;
const id = `actor ${fact.actor}`;
const lane = lanes.get(id) ?? emptyLane(id, actorTitle(fact.actor), 'actors');
lane.marks.push(markOf(fact));
lanes.set(id, lane);
}
return [...lanes.values()].slice(0, ACTORS_MAX);
}
function eventLane(timeline) {
const lane = emptyLane('events', 'Events', 'events');
for (const fact of timeline.facts) {
if (isEvent(fact)) lane.marks.push(markOf(fact));
}
return lane;
}
function podLanes(timeline) {
const lanes = new Map();
const ofWorkloads = timeline.placements.filter(
(one) => one.workload !== null,
);
for (const placement of ofWorkloads.slice(-PODS_MAX)) {
const { namespace, name, kind } = placement.workload;
const id = `workload ${kind}/${namespace}/${name}`;
const title = `${namespace}/${name}`;
const lane = lanes.get(id) ?? emptyLane(id, title, 'workloads');
addPlacement(lane, placement);
lanes.set(id, lane);
}
return [...lanes.values()];
}
function addPlacement(lane, placement) {
const bound = instant(placement.boundAt, -Infinity);
const running = instant(placement.runningAt, Infinity);
const ended = instant(placement.endedAt, Infinity);
const asked = Math.min(instant(placement.deletingAt, Infinity), ended);
const entry = placement.entries.at(-1) ?? null;
const { pod } = placement;
const begins = Math.min(running, asked);
const parts = ([
[bound, begins, 'plain', `${pod} is starting`],
[begins, asked, 'service', `${pod} runs`],
[asked, ended, 'degraded', `${pod} is being deleted`],
]);
for (const [from, to, tone, label] of parts) {
if (from < to) lane.spans.push({ from, to, tone, label, entry });
}
if (ended < Infinity) {
const failed = placement.phase === 'Failed' || placement.disruption;
const how = placement.disruption ?? phaseOf(placement);
lane.marks.push({
at: ended,
tone: failed ? 'notready' : 'strong',
label: `${pod}: ${how}`,
entry,
});
}
}
function dpuLanes(timeline) {
return timeline.dpus.flatMap((dpu) => {
const name = `DPU ${dpu.node ?? ''}`.trim();
if (dpu.node === null) {
const lane = emptyLane(name, name, 'dpus');
const label = dpu.cluster === null
? 'not recorded: no log has its Node'
: `not recorded: the log of ${dpu.cluster} cannot be read`;
lane.spans.push({
from: -Infinity, to: Infinity, tone: 'unknown', label, entry: null,
});
return [lane];
}
return [serviceLane(dpu), ...conditionLanes(dpu)].map((lane) => ({
...lane, id: `${name} ${lane.id}`, group: 'dpus',
title: lane.id === 'service'
? `${name}, ${dpu.cluster}`
: `DPU ${lane.title}`,
}));
});
}
function withSteps(lanes, verdicts) {
for (const verdict of verdicts) {
for (const [place, step] of verdict.steps.entries()) {
const at = instant(step.at, 0);
const [entry] = step.entries;
const lane = laneOfSign(lanes, entry, at);
if (lane === undefined) continue;
lane.marks.push({
at, tone: 'strong', label: step.says, entry, step: place + 1,
});
}
}
return lanes;
}
function laneOfSign(lanes, entry, at) {
const ofEntry = (one) =>
one.entry === entry;
const stated = lanes.filter((lane) => lane.group !== 'actors');
return (
stated.find((lane) =>
lane.spans.some((span) => ofEntry(span) && span.from === at)) ??
stated.find((lane) => lane.spans.some(ofEntry)) ??
lanes.find((lane) => lane.marks.some(ofEntry)) ??
lanes.find((lane) => lane.id === 'service')
);
}
function recorderLane() {
const lane = emptyLane('recorder', 'recorder', 'recorder');
lane.spans.push({
from: -Infinity, to: Infinity, tone: 'plain', label: 'recorded',
entry: null,
});
return lane;
}
return { SERVICE, lanesOfNode, addPlacement };
})();
const in_timeline_surface = (() => {
const { ticksOf } = in_time_axis;
const { pixelOf } = in_time_window;
const { room } = in_timeline_detail;
const { paint } = in_timeline_paint;
const { hatchOf, paletteOf } = in_timeline_palette;
const WIDTHS_MAX = 4000;
const AXIS_PIXELS = 26;
class Surface {
constructor(canvas) {
this.canvas = canvas;
this.context = (
canvas.getContext('2d', { alpha: false })
);
this.width = 0;
this.height = 0;
this.merged = room(1);
this.widths = new Map();
this.recolour();
}
recolour() {
this.palette = paletteOf(this.canvas);
this.hatch = hatchOf(this.context, this.palette, this.scale);
}
get scale() {
return Math.min(globalThis.devicePixelRatio || 1, 3);
}
resize(width, height) {
const { canvas, scale } = this;
const wide = Math.max(1, Math.round(width * scale));
const high = Math.max(1, Math.round(height * scale));
if (canvas.width !== wide || canvas.height !== high) {
canvas.width = wide;
canvas.height = high;
canvas.style.width = `${width}px`;
canvas.style.height = `${height}px`;
this.merged = room(width);
}
this.width = width;
this.height = height;
}
#begin() {
const { context, palette, scale } = this;
context.setTransform(scale, 0, 0, scale, 0, 0);
context.font = `11px ${palette.font}`;
context.textBaseline = 'middle';
context.textAlign = 'left';
if (this.widths.size > WIDTHS_MAX) this.widths.clear();
}
drawLanes(lanes, { window, zone, scroll, lit }) {
this.#begin();
const { context, palette, hatch, width, height, merged, widths } = this;
paint(
{
context, palette, hatch, window, width, height, scroll, lit, merged,
widths,
},
lanes,
ticksOf(window, width, zone),
);
}
drawAxis(window, zone) {
this.#begin();
const { context, palette, width } = this;
context.fillStyle = palette.ground;
context.fillRect(0, 0, width, AXIS_PIXELS);
for (const { at, label, strong } of ticksOf(window, width, zone)) {
const x = Math.round(pixelOf(window, width, at));
context.fillStyle = palette.line;
context.fillRect(x, AXIS_PIXELS - 6, 1, 6);
context.fillStyle = strong ? palette.ink : palette.soft;
context.fillText(label, x + 4, AXIS_PIXELS / 2);
}
}
}
return { Surface };
})();
const in_timeline_timeline = (() => {
const { Component, html } = in_html;
const { light, onLight } = in_lighting;
const { difference, exactClock, zoneName } = in_time_clock;
const { pixelOf, timeAt } = in_time_window;
const { shown } = in_words_shown;
const { watchHands } = in_timeline_gestures;
const { hitAt } = in_timeline_hit;
const { LaneNames } = in_timeline_names;
const { LANE_PIXELS } = in_timeline_paint;
const { Surface } = in_timeline_surface;
const SETTLE_WAIT = 180;
const TIP_PIXELS = 340;
class Timeline extends Component {
constructor(given) {
super(given);
this.window = given.window;
this.frame = 0;
this.timer = 0;
this.isMoving = false;
this.pinned = null;
this.lit = null;
this.find = (name) => (
element) => {
(this)[name] = element;
};
this.refs = Object.fromEntries(
['axis', 'canvas', 'box', 'line', 'pin', 'tip', 'now'].map((name) => [
name, this.find(`${name}Element`),
]),
);
}
componentDidMount() {
const self = (this);
this.surface = new Surface(self.canvasElement);
this.axis = new Surface(self.axisElement);
this.stopHands = watchHands(self.canvasElement, {
window: () => this.window,
width: () => this.surface?.width ?? 1,
move: (window) => this.move(window),
settle: () => this.settle(),
point: (x, y) => this.point(x, y),
click: (x, y) => this.click(x, y),
});
this.stop = new AbortController();
const { signal } = this.stop;
addEventListener('scroll', () => this.draw(), { signal, passive: true });
onLight((entry) => {
this.lit = entry;
this.draw();
}, signal);
this.sizes = new ResizeObserver(() => this.resize());
this.sizes.observe(self.boxElement);
this.sizes.observe(document.documentElement);
this.scheme = matchMedia('(prefers-color-scheme: dark)');
this.scheme.addEventListener('change', () => this.recolour(), { signal });
this.resize();
}
componentWillUnmount() {
this.stopHands?.();
this.stop?.abort();
this.sizes?.disconnect();
cancelAnimationFrame(this.frame);
clearTimeout(this.timer);
}
componentDidUpdate() {
if (!this.isMoving) this.window = (this.props).window;
this.resize();
}
recolour() {
this.surface?.recolour();
this.axis?.recolour();
this.draw();
}
resize() {
const self = (this);
const total = self.props.lanes.length * LANE_PIXELS;
const width = self.boxElement.clientWidth;
self.boxElement.style.height = `${total}px`;
this.surface?.resize(width, Math.min(total, innerHeight));
this.axis?.resize(width, 26);
this.draw();
}
draw() {
if (this.frame !== 0) return;
this.frame = requestAnimationFrame(() => {
this.frame = 0;
this.drawNow();
});
}
drawNow() {
const { lanes, zone, chosen } = (
(this.props)
);
const { window, scroll } = this;
const lit = this.lit ?? chosen;
this.surface?.drawLanes(lanes, { window, zone, scroll, lit });
this.axis?.drawAxis(window, zone);
this.placePin();
}
get scroll() {
return (this).canvasElement.offsetTop;
}
move(window) {
this.isMoving = true;
this.window = window;
this.draw();
}
settle() {
clearTimeout(this.timer);
this.timer = setTimeout(() => {
this.isMoving = false;
(this.props).onWindow(this.window);
}, SETTLE_WAIT);
}
hit(x, y) {
const { lanes } = (this.props);
const ready = lanes[Math.floor((y + this.scroll) / LANE_PIXELS)];
if (ready === undefined) return null;
const hit = hitAt(ready, this.window, this.surface?.width ?? 1, x);
return hit && { ...hit, label: `${ready.lane.title}: ${hit.label}` };
}
point(x, y) {
const self = (this);
self.lineElement.hidden = self.tipElement.hidden = x === null;
const hit = x === null ? null : this.hit(x, y);
self.canvasElement.classList.toggle('over', Boolean(hit?.entry));
light(hit?.entry ?? null);
if (x !== null) this.describe(x, y, hit);
}
describe(x, y, hit) {
const self = (this);
const { zone } = self.props;
const width = this.surface?.width ?? 1;
const at = timeAt(this.window, width, x);
const when = exactClock(hit?.step ? hit.at : at, zone);
const since =
this.pinned === null ? '' : `  ${difference(at - this.pinned)}`;
const more = hit && hit.more > 0 ? `\n… and ${hit.more} more here` : '';
const what = hit ? `\n${hit.label}${more}` : '';
self.lineElement.style.left = `${x}px`;
const tip = self.tipElement;
tip.textContent = shown(`${when} ${zoneName(zone, at)}${since}${what}`);
tip.style.top = `${y + this.scroll + 18}px`;
const isRight = x + TIP_PIXELS > width;
tip.style.left = isRight ? 'auto' : `${x + 12}px`;
tip.style.right = isRight ? `${width - x + 12}px` : 'auto';
}
click(x, y) {
const hit = this.hit(x, y);
if (hit?.entry) {
(this.props).onOpen(hit.entry);
return;
}
this.pinned =
this.pinned === null
? timeAt(this.window, this.surface?.width ?? 1, x)
: null;
this.placePin();
}
placePin() {
const { pinElement } = (this);
const width = this.surface?.width ?? 1;
const x =
this.pinned === null ? -1 : pixelOf(this.window, width, this.pinned);
pinElement.hidden = x < 0 || x > width;
pinElement.style.left = `${x}px`;
}
render() {
const { lanes, folded, pinned, zone, window, isOld, onLane } =
((this.props));
const { refs } = this;
return html`
<div class="timeline ${isOld ? 'old' : ''}">
<div class="axis">
<span class="zone">${zoneName(zone, window.from)}</span>
<canvas ref=${refs.axis} aria-hidden="true"></canvas>
</div>
<div class="lanes">
<${LaneNames} lanes=${lanes} pinned=${pinned} onLane=${onLane} />
<div class="box" ref=${refs.box}>
<canvas ref=${refs.canvas} role="img"
aria-label="Timeline of ${lanes.length} lanes; the facts are listed
below"></canvas>
<div class="pointer" ref=${refs.line} hidden></div>
<div class="pointer pinned" ref=${refs.pin} hidden></div>
<div class="tip" ref=${refs.tip} hidden></div>
</div>
</div>
<${Folded} lanes=${folded} onLane=${onLane} />
</div>
`;
}
}
function Folded({ lanes, onLane }) {
if (lanes.length === 0) return null;
return html`
<details class="folded">
<summary>
${lanes.length} ${lanes.length === 1 ? 'lane' : 'lanes'} collapsed: no
changes in this window
</summary>
${lanes.map(
({ lane }) => html`
<button key=${lane.id} onClick=${() => onLane('open', lane.id)}>
${lane.title}
</button>
`,
)}
</details>
`;
}
return { Timeline };
})();
return { in_needs_metrics, in_timeline_detail, in_timeline_gestures, in_timeline_hit, in_timeline_names, in_timeline_ofnode, in_timeline_paint, in_timeline_palette, in_timeline_surface, in_timeline_timeline, in_timeline_unseen };
})();

let made;
export default ({ in_html, in_needs, in_time_clock, in_time_instant }) => made ??= (() => {
const in_views_metrics = (() => {
const { html } = in_html;
const { metricsSlot } = in_needs;
const { clock } = in_time_clock;
const { readInstant } = in_time_instant;
const WIDTH = 960;
const HEIGHT = 72;
const LINES_MAX = 16;
const APART = 3;
function Metrics({ page }) {
const verdict = page.openVerdict;
const kept = page.answers.of(metricsSlot(page.place)).data?.metrics?.kept;
if (verdict === null || !kept) return null;
const at = verdict.at;
const shown = kept.filter((one) =>
one.from <= at && at <= one.to);
if (shown.length === 0) return null;
return html`
<section id="metrics" aria-labelledby="metrics-title">
<h2 id="metrics-title">Metrics</h2>
${shown.map((one) => html`
<${OfNode} key=${one.entry} page=${page} kept=${one}
steps=${verdict.steps} />`)}
</section>
`;
}
function OfNode({ page, kept, steps }) {
if (kept.trouble !== null) {
return html`<p class="quiet">${kept.node}: ${kept.trouble}</p>`;
}
const about = kept.peerOf === null ? '' : `, a healthy peer`;
return html`
${chartsOf(kept.series).map(([name, series]) => html`
<figure key=${name} class="chart">
<${Chart} kept=${kept} name=${name} series=${series} steps=${steps} />
<figcaption>
${kept.node}${about}: ${says(series)}, ${
clock(readInstant(kept.from) ?? 0, page.place.zone)} to ${
clock(readInstant(kept.to) ?? 0, page.place.zone)},${' '}
<code>${name}</code>
${' '}<button type="button" class="link"
onClick=${() => page.go({ entry: kept.entry })}>${kept.entry}</button>
</figcaption>
</figure>`)}
`;
}
function chartsOf(series) {
const byName = new Map();
for (const one of series) {
byName.set(one.name, [...(byName.get(one.name) ?? []), one]);
}
return [...byName].map(([name, found]) =>
[name, found.sort((a, b) => highest(b) - highest(a))]);
}
const highest = ({ values }) => Math.max(...values);
function says([first, second]) {
const text = `${first.thing} up to ${highest(first)}${first.unit}`;
return second === undefined ? text
: `${text}, the others up to ${highest(second)}${second.unit}`;
}
function Chart({ kept, name, series, steps }) {
const from = readInstant(kept.from) ?? 0;
const to = readInstant(kept.to) ?? 0;
const drawn = series.slice(0, LINES_MAX);
const low = Math.min(...drawn.map(({ values }) => Math.min(...values)));
const high = Math.max(...drawn.map(highest));
const x = (at) =>
Number(((at - from) / (to - from) * WIDTH).toFixed(1));
const y = (value) => high > low
? Number((4 + (1 - (value - low) / (high - low)) * (HEIGHT - 8)).toFixed(1))
: HEIGHT / 2;
const marks = steps.map(({ at }) => readInstant(at) ?? 0)
.filter((at) => from <= at && at <= to);
return html`
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img"
aria-label="${name} of ${kept.node}, ${clock(from, 'utc')} to ${
clock(to, 'utc')}">
${marks.map((at) => html`<line class="mark" x1=${x(at)} x2=${x(at)}
y1="0" y2=${HEIGHT} />`)}
${drawn.map((one, place) => html`
<path key=${one.thing} class=${place === 0 ? 'first' : ''}
d=${pathOf(one, x, y)} />`).reverse()}
</svg>
`;
}
function pathOf({ from, offsets, values }, x, y) {
const start = readInstant(from) ?? 0;
const apart = offsets.slice(1)
.map((one, n) => one - offsets[n])
.sort((a, b) => a - b);
const step = apart[Math.floor(apart.length / 2)] ?? 0;
return values.map((value, n) => {
const isJoined = n > 0 && offsets[n] - offsets[n - 1] <= APART * step;
return `${isJoined ? 'L' : 'M'}${x(start + offsets[n] * 1000)} ${y(value)}`;
}).join('');
}
return { Metrics };
})();
return { in_views_metrics };
})();

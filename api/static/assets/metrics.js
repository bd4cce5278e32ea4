let made;
export default ({ in_html, in_time_clock, in_time_instant }) => made ??= (() => {
const in_views_metrics = (() => {
const { html } = in_html;
const { clock } = in_time_clock;
const { readInstant } = in_time_instant;
const WIDTH = 960;
const HEIGHT = 72;
function Metrics({ page }) {
const verdict = page.openVerdict ?? page.openEnding?.verdict;
return html`
<section id="metrics" aria-labelledby="metrics-title">
<h2 id="metrics-title">Metrics</h2>
${page.kept.map((one) => one.trouble === null
? one.charts.map((chart) => html`
<${Chart} key=${one.entry + chart.name} page=${page} kept=${one}
chart=${chart} steps=${verdict?.steps ?? []} />`)
: html`<p class="quiet">${one.node}: ${one.trouble}</p>`)}
</section>
`;
}
function Chart({ page, kept, chart, steps }) {
const from = readInstant(kept.from) ?? 0;
const to = readInstant(kept.to) ?? 0;
const [begin, end] = [from, to].map((at) => clock(at, page.place.zone));
const marks = steps.map(({ at }) => readInstant(at) ?? 0)
.filter((at) => from <= at && at <= to)
.map((at) => `M${(at - from) / (to - from) * WIDTH} 0v${HEIGHT}`);
return html`
<figure class="chart">
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img"
aria-label="${chart.name} of ${kept.node}, ${begin} to ${end}">
${chart.missing && html`<path class="missing" d=${chart.missing} />`}
<path class="mark" d=${marks.join('')} />
${chart.lines.map(({ thing, path },
place) => html`
<path key=${thing} class=${place === 0 ? 'line first' : 'line'}
d=${path} />`).reverse()}
</svg>
<figcaption>
${chart.says}, ${chart.low} to ${chart.high}, ${begin} to ${end}
${' '}<button type="button" class="link"
onClick=${() => page.go({ entry: kept.entry })}>${kept.entry}</button>
</figcaption>
</figure>
`;
}
return { Metrics };
})();
return { in_views_metrics };
})();

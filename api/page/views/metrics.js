/** Metrics that were kept around a verdict: charts, as the recorder draws them. */

import { html } from '../html.js';
import { clock } from '../time/clock.js';
import { readInstant } from '../time/instant.js';

const WIDTH = 960;
const HEIGHT = 72;

/** @param {{page: import('../page.js').Page}} given */
export function Metrics({ page }) {
  const verdict = page.openVerdict ?? page.openEnding?.verdict;
  return html`
    <section id="metrics" aria-labelledby="metrics-title">
      <h2 id="metrics-title">Metrics</h2>
      ${page.kept.map((/** @type {any} */ one) => one.trouble === null
        ? one.charts.map((/** @type {any} */ chart) => html`
          <${Chart} key=${one.entry + chart.name} page=${page} kept=${one}
            chart=${chart} steps=${verdict?.steps ?? []} />`)
        : html`<p class="quiet">${one.node}: ${one.trouble}</p>`)}
    </section>
  `;
}

/**
 * @param {{page: import('../page.js').Page, kept: any, chart: any,
 *   steps: any[]}} given
 */
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
        ${chart.lines.map((/** @type {any} */ { thing, path },
          /** @type {number} */ place) => html`
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

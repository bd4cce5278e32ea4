/** Below the list: where it happens again and again, and who pays for it. */

import { heatOf, hoursByNamespace, racksOf } from '../fleet/sums.js';
import { html } from '../html.js';
import { clock, day } from '../time/clock.js';
import { hasWord, toggled } from '../words/filter.js';
import { counted, gpuHours } from '../words/plain.js';

/** Shades of a heat-map, from one incident to the most. */
const SHADES = 4;

/** @param {{page: import('../page.js').Page, fleet: any}} given */
export function Sums({ page, fleet }) {
  const { incidents, places } = fleet;
  return html`
    <div class="sums">
      <${Heat} page=${page} fleet=${fleet} title="Nodes" trait="node"
        of=${(/** @type {any} */ { nodes }) => nodes} />
      <${Heat} page=${page} fleet=${fleet} title="Racks" trait="rack"
        of=${racksOf(places)} />
      <${Hours} page=${page} hours=${hoursByNamespace(incidents)} />
    </div>
  `;
}

/** @param {{page: import('../page.js').Page, fleet: any, title: string,
 *   trait: string, of: (incident: any) => string[]}} given */
function Heat({ page, fleet, title, trait, of }) {
  const { zone } = page.place;
  const { window, incidents } = fleet;
  if (window === null) return null;
  const heat = heatOf(incidents, { of, window, zone });
  if (heat.rows.length === 0) return null;
  const id = `heat-${trait}`;
  const name = ({ from }) => heat.isHours ? clock(from, zone).slice(0, 5)
    : day(from, zone).split(' ').slice(0, 2).join(' ');
  return html`
    <section aria-labelledby=${id}>
      <h2 id=${id}>${title} by ${heat.isHours ? 'hour' : 'day'}</h2>
      <div class="scrolled" tabindex="0" role="group" aria-labelledby=${id}>
      <table class="heat">
        <thead><tr><th scope="col">${title.slice(0, -1)}</th>
          ${heat.steps.map((step) => html`
            <th key=${step.from} scope="col">${name(step)}</th>`)}</tr></thead>
        <tbody>${heat.rows.map((row) => html`
          <tr key="${row.log} ${row.name}">
            <th scope="row"><a href=${page.keep({ ...logged(fleet, row), filter:
              toggled(page.place.filter, `${trait}:${row.name}`) })}>${
              row.name}</a>${fleet.names.has(row.log) && html` <small>${
              fleet.names.get(row.log)}</small>`}</th>
            ${row.counts.map((count, number) => {
              const step = heat.steps[number];
              const shade = Math.ceil((count / heat.most) * SHADES);
              return html`<td key=${step.from} class="heat-${shade}">${count > 0
                && html`<a href=${page.keep({
                  ...narrowed(page, trait, row, step), ...logged(fleet, row) })}
                  title="${counted(count, 'incident')}, ${row.name}, ${
                  name(step)}">${count}</a>`}</td>`;
            })}
          </tr>`)}</tbody>
      </table></div>
      ${heat.left > 0 && html`<p class="quiet">and ${heat.left} more with fewer
        incidents</p>`}
    </section>
  `;
}

/** The log of a row, where there are several. @param {any} fleet @param {any} row */
const logged = ({ names }, { log }) => names.has(log) ? { log, cluster: '' } : {};

/** @param {import('../page.js').Page} page @param {string} trait
 * @param {{name: string}} row @param {{from: number, to: number}} step */
function narrowed(page, trait, { name }, step) {
  const word = `${trait}:${name}`;
  const { filter } = page.place;
  return {
    ...step, last: '', filter: hasWord(filter, word) ? filter
      : toggled(filter, word),
  };
}

/** @param {{page: import('../page.js').Page,
 *   hours: {name: string, hours: number}[]}} given */
function Hours({ page, hours }) {
  if (hours.length === 0) return null;
  const most = hours[0].hours;
  const { filter } = page.place;
  return html`
    <section aria-labelledby="hours-title">
      <h2 id="hours-title">GPU-hours lost by namespace
        <small>at least</small></h2>
      <ul class="hours">${hours.map(({ name, hours: lost }) => html`
        <li key=${name}><a href=${page.keep({
          filter: toggled(filter, `namespace:${name}`) })}>
          <span>${name}</span>
          <i style=${{ width: `${(lost / most) * 100}%` }}></i>
          <b>${gpuHours(lost)}</b></a></li>`)}</ul>
    </section>
  `;
}

/** The list of incidents: a table that is sorted by what it shows. */

import { COLUMNS } from '../fleet/columns.js';
import { returningWords } from '../fleet/sums.js';
import { severityOf, struckAt } from '../fleet/traits.js';
import { html } from '../html.js';
import { readInstant } from '../time/instant.js';
import { clock, day, zoneName } from '../time/clock.js';
import { actorName } from '../words/author.js';
import { because, lasted, logOf } from '../words/incident.js';
import { counted, gpuHours, objectName, prose, verb } from '../words/plain.js';
import { Headings } from './headings.js';

/** @param {{page: import('../page.js').Page, fleet: any}} given */
export function Incidents({ page, fleet }) {
  const { groups } = fleet;
  return html`
    <table class="incidents stacked">
      <${Headings} page=${page} columns=${COLUMNS} />
      ${groups.map((/** @type {any} */ group) => html`
        <${Group} key=${group.title} page=${page} fleet=${fleet}
          group=${group} />`)}
    </table>
  `;
}

/** @param {{page: import('../page.js').Page, fleet: any, group: any}} given */
function Group({ page, fleet, group: { title, incidents } }) {
  const { zone } = page.place;
  const lost = incidents.reduce((/** @type {number} */ sum,
    /** @type {any} */ one) => sum + one.totals.gpuHoursAttributed, 0);
  const about = [counted(incidents.length, 'incident')];
  if (lost > 0) about.push(`≥ ${gpuHours(lost)} GPU-hours`);
  if (fleet.by === 'day') {
    about.push(zoneName(zone, readInstant(incidents[0].from) ?? 0));
  }
  return html`
    <tbody>
      ${title && html`<tr class="day">
        <th colspan=${COLUMNS.length} scope="rowgroup">${title}
          ${' '}<small>${about.join(' · ')}</small></th></tr>`}
      ${incidents.map((/** @type {any} */ incident) => html`
        <${Line} key=${incident.id} page=${page} fleet=${fleet}
          incident=${incident} />`)}
    </tbody>
  `;
}

/**
 * The job that an incident cost most, and how many more it hit.
 * @param {{page: import('../page.js').Page, incident: any}} given
 */
function Job({ page, incident: { id, workloads, totals } }) {
  const [first] = [...workloads].sort((one, other) =>
    other.gpuHoursAttributed - one.gpuHoursAttributed);
  if (first === undefined) return null;
  const more = totals.workloads - 1;
  return html`<a href=${page.workloadLink(first.workload, logOf(id))}
    >${objectName(first.workload)}</a>${more > 0 && ` and ${more} more`}${
    totals.gpus > 0 && `, ${counted(totals.gpus, 'GPU')}`}`;
}

/** Who decided it. @param {any} incident */
function byWhom({ verdicts: [verdict] }) {
  const actor = verdict?.decision?.actor;
  return actor?.name || actor?.tool ? `by ${actorName(actor)}` : '';
}

/** @param {{page: import('../page.js').Page, fleet: any, incident: any}} given */
function Line({ page, fleet, incident }) {
  const { zone } = page.place;
  const { places, returns, incidents, by } = fleet;
  const at = readInstant(incident.from) ?? 0;
  const isChosen = incidents[page.ui.chosen] === incident;
  const { title, detail } = struckAt(incident, places);
  const { tone, word } = severityOf(incident);
  const again = returningWords(incident, returns);
  const { gpuHoursAttributed } = incident.totals;
  const who = byWhom(incident);
  const sure = prose(incident.confidence);
  return html`
    <tr class="incident ${isChosen ? 'chosen' : ''}">
      <td><time title=${day(at, zone)}>${clock(at, zone)}</time>
        ${by !== 'day' && html` <small>${day(at, zone)}</small>`}</td>
      <td><span class="severity ${tone}">${word}</span></td>
      <td class="node"><a href=${page.incidentLink(incident)}
        aria-current=${isChosen} title=${incident.sentence}>${title}</a>
        ${' '}<small>${[fleet.names.get(logOf(incident.id)), detail]
          .filter(Boolean).join(', ')}</small></td>
      <td class="what">${verb(incident.happened)}
        ${again && html` <small class="again">${again}</small>`}</td>
      <td class="length">${lasted(incident)}</td>
      <td class="cause">${because(incident)}${who && html`
        ${' '}<small>${who}</small>`}</td>
      <td class="cost"><${Job} page=${page} incident=${incident} /></td>
      <td class="lost">${gpuHoursAttributed > 0
        && `≥ ${gpuHours(gpuHoursAttributed)} GPU-h`}</td>
      <td><span class="sure ${sure}">${sure}</span></td>
    </tr>
  `;
}

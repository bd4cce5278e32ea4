/** The fleet, where a shift begins: what happened to any node, and how much. */

import { barsOf, fleetOf } from '../fleet/fleet.js';
import { FACETS, GROUPINGS, TRAITS } from '../fleet/traits.js';
import { html } from '../html.js';
import { ofFleet } from '../needs/fleet.js';
import { readInstant } from '../time/instant.js';
import { dayAndClock } from '../time/clock.js';
import { FILTER_WORDS } from '../words/filter.js';
import { logOf } from '../words/incident.js';
import { incidentsMarkdown } from '../words/markdown.js';
import { counted, gpuHours, objectName } from '../words/plain.js';
import { Facets } from './facets.js';
import { Holes, LeftOut } from './leftout.js';
import { Incidents } from './incidents.js';
import { Sums } from './sums.js';
import { Away, Empty, Trouble, Waiting } from './states.js';
import { Strip } from './strip.js';

/**
 * What is copied of the view.
 * @param {import('../page.js').Page} page
 */
export const markdownOf = ({ incidents, place }) =>
  incidentsMarkdown(incidents, place.zone);

/** What the view requests. */
export const needsOf = ofFleet;

export { fleetOf };

/** @param {{page: import('../page.js').Page}} given */
export function Fleet({ page }) {
  const { place, fleet } = page;
  const answers = fleet.logs.map(({ answer }) => answer);
  const failed = answers.filter(({ error }) => error !== '');
  const isWaiting = answers.every(({ data }) => data === null);
  return html`
    <section class="fleet" aria-labelledby="title">
      <${Headline} fleet=${fleet} isWaiting=${isWaiting} />
      ${failed.map((answer) => html`<${Trouble} answer=${answer}
        zone=${place.zone} onRetry=${() => page.answers.retry()} />`)}
      ${page.isOfAll && html`<${Away} away=${page.away} />`}
      <${LeftOut} page=${page} />
      <${Filter} page=${page} fleet=${fleet} />
      ${isWaiting
        ? failed.length === 0 && html`<${Waiting} lines=${7}
            says="Loading incidents" />`
        : html`<${Answered} page=${page} fleet=${fleet} />`}
    </section>
  `;
}

/** @typedef {ReturnType<typeof import('../fleet/fleet.js').fleetOf>} Fleet */

/**
 * The answer before the list: how much happened, and what it cost.
 * @param {{fleet: Fleet, isWaiting: boolean}} given
 */
function Headline({ fleet: { incidents, logs }, isWaiting }) {
  if (isWaiting) return html`<h1 id="title">Incidents</h1>`;
  const lost = incidents.reduce(
    (sum, { totals }) => sum + totals.gpuHoursAttributed, 0);
  const jobs = new Set(incidents.flatMap(({ id, workloads }) =>
    workloads.map((/** @type {any} */ { workload }) =>
      `${logOf(id)} ${objectName(workload)}`)));
  const nodes = new Set(incidents.flatMap((incident) => incident.nodes.map(
    (/** @type {string} */ node) => `${logOf(incident.id)} ${node}`)));
  const parts = [counted(incidents.length, 'incident')];
  if (nodes.size > 0) parts.push(`on ${counted(nodes.size, 'node')}`);
  if (logs.length > 1) parts.push(`in ${counted(logs.length, 'cluster')}`);
  const hit = jobs.size === 0 ? '' : `; ${counted(jobs.size, 'job')} affected`;
  const hours = lost === 0 ? '' : `, at least ${gpuHours(lost)} GPU-hours lost`;
  return html`<h1 id="title">${parts.join(' ')}${hit}${hours}</h1>`;
}

/** @param {{page: import('../page.js').Page, fleet: Fleet}} given */
function Answered({ page, fleet }) {
  const { zone } = page.place;
  const { incidents, logs } = fleet;
  const isOld = logs.some(({ answer: { error, key, dataKey } }) =>
    error !== '' || key !== dataKey);
  return html`
    <div class="shift ${isOld ? 'old' : ''}">
      <${Facets} page=${page} facets=${FACETS} counts=${fleet.facets}>
        <label>Group by ${' '}
          <select value=${fleet.by} onChange=${(/** @type {any} */ event) =>
            page.go({ group: event.target.value })}>
            ${GROUPINGS.map((by) => html`<option key=${by} value=${by}>${
              TRAITS[by]?.title.toLowerCase() ?? by}</option>`)}
          </select></label>
      <//>
      <div class="what-happened">
        <${Counts} page=${page} fleet=${fleet} />
        <${Holes} logs=${logs} zone=${zone} />
        ${incidents.length === 0
          ? html`<${Nothing} page=${page} fleet=${fleet} />`
          : html`<${Incidents} page=${page} fleet=${fleet} />`}
        ${page.hasOlder && html`
          <button type="button" class="more" onClick=${() => page.older()}>
            Older incidents</button>`}
        ${incidents.length > 0 && html`<${Sums} page=${page} fleet=${fleet} />`}
      </div>
    </div>
  `;
}

/** @param {{page: import('../page.js').Page, fleet: Fleet}} given */
function Counts({ page, fleet }) {
  const { window, logs, incidents } = fleet;
  if (window === null) return null;
  const unseen = logs.flatMap(({ found }) => found?.histogram.gaps ?? []).map(
    (/** @type {any} */ gap) => ({
      from: readInstant(gap.from ?? '') ?? window.from,
      to: readInstant(gap.to ?? '') ?? window.to,
      label: `gap: ${gap.resource ?? 'all resources'}`,
    }));
  return html`
    <${Strip} window=${window} bars=${barsOf(fleet)} unseen=${unseen}
      brush=${null} zone=${page.place.zone} noun="incident"
      label="${counted(incidents.length, 'incident')} over time"
      onRange=${(/** @type {any} */ range) =>
        page.go({ ...range, last: '' })} />
  `;
}

/** @param {{page: import('../page.js').Page, fleet: Fleet}} given */
function Filter({ page, fleet }) {
  const { filter } = page.place;
  const shown = fleet.incidents.length;
  const isTold = filter !== '' || shown < fleet.count;
  const text = isTold ? `${shown} of ${counted(fleet.count, 'incident')}` : '';
  return html`
    <div class="filter">
      <input type="search" aria-label="Filter incidents" list="filter-words"
        placeholder="Filter: hung-kernel, proven, node:gpu-002, job:llm …"
        value=${filter} spellcheck="false"
        onInput=${(/** @type {any} */ event) =>
          page.go({ filter: event.target.value }, { replace: true })} />
      <datalist id="filter-words">
        ${FILTER_WORDS.map((word) => html`<option key=${word} value=${word} />`)}
      </datalist>
      <output>${text}</output>
    </div>
  `;
}

/** @param {{page: import('../page.js').Page, fleet: Fleet}} given */
function Nothing({ page, fleet: { window, logs } }) {
  const { zone, filter } = page.place;
  const span = window === null
    ? 'in this log'
    : `between ${dayAndClock(window.from, zone)} and
      ${dayAndClock(window.to, zone)}`;
  const what = filter ? `No incidents match “${filter}”` : 'No incidents';
  const isWhole = logs.every(({ found }) => found?.coverage.complete);
  const unseen = isWhole
    ? '' : ' in what was recorded; the recording has gaps';
  const near = /** @type {const} */ ([
    ['before', 'Last before'], ['after', 'First after'],
  ]).flatMap(([side, says]) => logs.flatMap(({ found, known }) => {
    const moment = found?.nearest?.[side];
    if (!moment) return [];
    const at = readInstant(moment.at) ?? 0;
    return [{
      href: page.href({ view: 'node', name: moment.node, entry: moment.entry,
        from: at - 300_000, to: at + 300_000,
        ...(logs.length > 1 ? { log: known.log } : {}) }),
      says: `${says}: ${dayAndClock(at, zone)}, ${moment.node}, ${moment.says}`,
    }];
  }));
  return html`<${Empty} says="${what} ${span}${unseen}." links=${near} />`;
}

/** The fleet: what happened to any node, newest first. */

import { html } from '../html.js';
import { readInstant } from '../time/instant.js';
import { clock, day, dayAndClock, zoneName } from '../time/clock.js';
import { FILTER_WORDS } from '../words/filter.js';
import { because, cost, happenedFor, struck } from '../words/incident.js';
import { counted, objectName, prose, rounded } from '../words/plain.js';
import { Coverage, Empty, Trouble, Waiting } from './states.js';
import { Strip } from './strip.js';

/** @param {{page: import('../page.js').Page}} given */
export function Fleet({ page }) {
  const { place } = page;
  const answer = page.answers.of('incidents');
  const { data } = answer;
  const incidents = page.incidents;
  return html`
    <section class="fleet" aria-labelledby="title">
      <${Headline} found=${data?.incidents} incidents=${incidents} />
      <${Trouble} answer=${answer} zone=${place.zone}
        onRetry=${() => page.answers.retry()} />
      <${Filter} page=${page} count=${data?.incidents?.count}
        shown=${incidents.length} />
      ${data === null
        ? answer.error === '' && html`<${Waiting} lines=${7}
            says="Loading incidents" />`
        : html`<${Answered} page=${page} answer=${answer}
            incidents=${incidents} />`}
    </section>
  `;
}

/**
 * The answer before the list: how much happened, and what it cost.
 * @param {{found: any, incidents: any[]}} given
 */
function Headline({ found, incidents }) {
  if (!found) return html`<h1 id="title">Incidents</h1>`;
  const lost = incidents.reduce(
    (sum, { totals }) => sum + totals.gpuHoursLost, 0);
  const jobs = new Set(incidents.flatMap(({ workloads }) =>
    workloads.map((/** @type {any} */ { workload }) => objectName(workload))));
  const nodes = new Set(incidents.flatMap((incident) => incident.nodes));
  const parts = [counted(incidents.length, 'incident')];
  if (nodes.size > 0) parts.push(`on ${counted(nodes.size, 'node')}`);
  const hit = jobs.size === 0 ? '' : `; ${counted(jobs.size, 'job')} affected`;
  const hours = lost === 0 ? '' : `, at least ${rounded(lost)} GPU-hours lost`;
  return html`<h1 id="title">${parts.join(' ')}${hit}${hours}</h1>`;
}

/** @param {{page: import('../page.js').Page, answer: any,
 *   incidents: any[]}} given */
function Answered({ page, answer, incidents }) {
  const { place } = page;
  const found = answer.data.incidents;
  const isOld = answer.error !== '' || answer.key !== answer.dataKey;
  return html`
    <div class=${isOld ? 'old' : ''}>
      <${Counts} page=${page} found=${found} />
      ${!found.coverage.complete
        && html`<${Coverage} coverage=${found.coverage} zone=${place.zone} />`}
      ${incidents.length === 0
        ? html`<${Nothing} page=${page} found=${found} />`
        : html`<${Incidents} page=${page} incidents=${incidents} />`}
      ${page.hasOlder && html`
        <button type="button" class="more" onClick=${() => page.older()}>
          Older incidents</button>`}
    </div>
  `;
}

/** @param {{page: import('../page.js').Page, found: any}} given */
function Counts({ page, found }) {
  const window = page.fleetWindow(found.coverage);
  if (window === null) return null;
  const instants = (/** @type {any} */ one) => ({
    from: readInstant(one.from ?? '') ?? window.from,
    to: readInstant(one.to ?? '') ?? window.to,
  });
  const bars = found.histogram.steps.map((/** @type {any} */ step) => ({
    ...instants(step), count: step.count,
  }));
  const unseen = found.histogram.gaps.map((/** @type {any} */ gap) => ({
    ...instants(gap), label: `gap: ${gap.resource ?? 'all resources'}`,
  }));
  const { zone } = page.place;
  return html`
    <${Strip} window=${window} bars=${bars} unseen=${unseen} brush=${null}
      zone=${zone} noun="incident"
      label="${counted(found.count, 'incident')} over time"
      onRange=${(/** @type {any} */ range) =>
        page.go({ ...range, last: '' })} />
  `;
}

/** @param {{page: import('../page.js').Page, count: number | undefined,
 *   shown: number}} given */
function Filter({ page, count, shown }) {
  const { filter } = page.place;
  const isTold = filter !== '' && count !== undefined;
  const text = isTold ? `${shown} of ${counted(count, 'incident')}` : '';
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

/** @param {{page: import('../page.js').Page, found: any}} given */
function Nothing({ page, found }) {
  const { zone, filter } = page.place;
  const window = page.fleetWindow(found.coverage);
  const span = window === null
    ? 'in this log'
    : `between ${dayAndClock(window.from, zone)} and
      ${dayAndClock(window.to, zone)}`;
  const what = filter ? `No incidents match “${filter}”` : 'No incidents';
  const unseen = found.coverage.complete
    ? '' : ' in what was recorded; the recording has gaps';
  const near = [['before', 'Last before'], ['after', 'First after']]
    .flatMap(([side, says]) => {
      const moment = found.nearest?.[side];
      if (!moment) return [];
      const at = readInstant(moment.at) ?? 0;
      return [{
        href: page.href({ view: 'node', name: moment.node, entry: moment.entry,
          from: at - 300_000, to: at + 300_000 }),
        says: `${says}: ${dayAndClock(at, zone)}, ${moment.node}, ${moment.says}`,
      }];
    });
  return html`<${Empty} says="${what} ${span}${unseen}." links=${near} />`;
}

/** @param {{page: import('../page.js').Page, incidents: any[]}} given */
function Incidents({ page, incidents }) {
  const { zone } = page.place;
  let last = '';
  return html`
    <ol class="incidents">
      ${incidents.map((incident, place) => {
        const at = readInstant(incident.from) ?? 0;
        const date = day(at, zone);
        const isNew = date !== last;
        last = date;
        return html`
          ${isNew && html`<li key=${date} class="day">
            <h2>${date}</h2> <span>${zoneName(zone, at)}</span></li>`}
          <${Line} key=${incident.id} page=${page} incident=${incident}
            at=${at} isChosen=${page.ui.chosen === place} />
        `;
      })}
    </ol>
  `;
}

/** @param {{page: import('../page.js').Page, incident: any, at: number,
 *   isChosen: boolean}} given */
function Line({ page, incident, at, isChosen }) {
  const { zone } = page.place;
  return html`
    <li class="incident ${isChosen ? 'chosen' : ''}">
      <a href=${page.incidentLink(incident)} aria-current=${isChosen}
        title=${incident.sentence}>
        <time>${clock(at, zone)}</time>
        <span class="node">${struck(incident)}</span>
        <span class="what">${happenedFor(incident)}</span>
        <span class="cause">${because(incident)}</span>
        <span class="cost">${cost(incident)}</span>
        <span class="sure ${prose(incident.confidence)}"
          >${prose(incident.confidence)}</span>
      </a>
    </li>
  `;
}

/** The sources: what is recorded, how current it is, and the gaps. */

import { GAPS, SOURCES } from '../ask/ofsources.js';
import { html } from '../html.js';
import { logOf, OVERVIEW_EVERY } from '../needs.js';
import { readInstant } from '../time/instant.js';
import { dayAndClock, span } from '../time/clock.js';
import { counted, prose, rounded, size } from '../words/plain.js';
import { clusterOf, recordingOf, withoutEnd } from '../words/recording.js';
import { Figure, Trouble, Waiting } from './states.js';

/**
 * What the view requests.
 * @param {import('../needs.js').Ready} state
 */
export const needsOf = ({ known }) => [
  { slot: 'sources', query: SOURCES, variables: {}, every: OVERVIEW_EVERY },
  { slot: 'gaps', query: GAPS, variables: logOf(known) },
];

/** @type {Record<string, string>} */
const MEANS = {
  LIVE: 'watching, confirmed complete',
  LISTING: 'listing, or waiting to list',
  BACKING_OFF: 'failed, retrying with backoff',
  FORBIDDEN: 'missing permissions or valid credentials',
  ABSENT: 'not served by the cluster',
  STOPPED: 'not being recorded',
};

/** Objects that are named of an outage; its answer has up to 100. */
const CHANGED_SHOWN = 5;

/** @type {Record<string, string>} */
const AUDIT = {
  RECORDED: 'audit records',
  SILENT: 'audit records; none are arriving',
  STOPPED: 'audit records; they are not being read',
  ABSENT: 'audit records: the audit log is not recorded',
};

/** @param {{page: import('../page.js').Page}} given */
export function Sources({ page }) {
  const answer = page.answers.of('sources');
  const status = answer.data?.status ?? null;
  const cluster = clusterOf(status, page.place);
  return html`
    <section class="sources" aria-labelledby="title">
      <div class="title"><h1 id="title">Sources</h1></div>
      <${Trouble} answer=${answer} zone=${page.place.zone}
        onRetry=${() => page.answers.retry()} />
      ${cluster === null
        ? answer.error === '' && html`<${Waiting} lines=${6}
            says="Loading sources" />`
        : html`
          <${Log} page=${page} status=${status} cluster=${cluster} />
          <${Streams} page=${page} sources=${cluster.sources} />
          <${Outages} page=${page} />`}
    </section>
  `;
}

/** @param {{page: import('../page.js').Page, status: any,
 *   cluster: any}} given */
function Log({ page, status, cluster }) {
  const { audit, log } = cluster;
  const { database } = status;
  const { says } = recordingOf(status, cluster, page.place.zone);
  return html`
    <p class="sentence">${cluster.name}, Kubernetes ${cluster.kubernetes}:
      ${' '}${says}.</p>
    <ul class="quiet">${[...cluster.coverage.says, ...audit.says].map(
      (line) => html`<li>${line}</li>`)}</ul>
    <div class="figures">
      ${database.bytes > 0 && html`
        <${Figure} value=${Number(log.size).toLocaleString('en')}
          says="entries in log ${log.id}" />
        <${Figure} value=${rounded(log.entriesPerMinute)}
          says="entries per minute" />
        <${Figure} value=${audit.records.toLocaleString('en')}
          says=${AUDIT[audit.state]} />
        <${Figure} value=${size(database.bytes)} says="in PostgreSQL
          ${' '}${database.version}${database.diskFreeBytes === null ? ''
            : `, ${size(database.diskFreeBytes)} free`}" />`}
      <${Figure} value=${String(cluster.openGaps.length)} says="open gaps" />
    </div>
  `;
}

/** @param {{page: import('../page.js').Page, sources: any[]}} given */
function Streams({ page, sources }) {
  const { zone } = page.place;
  return html`
    <h2>Recorded resources</h2>
    <table class="streams stacked">
      <thead><tr><th scope="col">Resource</th><th scope="col">State</th>
        <th scope="col">Proven until</th><th scope="col">Lag</th>
        <th scope="col" class="number">Entries</th></tr></thead>
      <tbody>${sources.map((one) => {
        const until = readInstant(one.vouchedUntil ?? '');
        return html`
          <tr key="${one.source} ${one.resource}">
            <td class="whole">${one.resource}
              ${' '}<span class="kind">${prose(one.source)}</span></td>
            <td><span class="state ${prose(one.state).replace(' ', '-')}"
              title=${MEANS[one.state]}>${prose(one.state)}</span>${
              behind(one, zone)}</td>
            <td data-name="until">${until === null ? 'never'
              : dayAndClock(until, zone)}</td>
            <td data-name="lag">${one.lagSeconds === null ? 'n/a (tape)'
              : span(one.lagSeconds * 1000)}</td>
            <td class="number" data-name="entries"
              >${one.entries.toLocaleString('en')}</td>
          </tr>`;
      })}</tbody>
    </table>
  `;
}

/** Say since when a resource is behind, and why.
 * @param {any} source @param {string} zone */
function behind({ state, vouchedUntil, gap }, zone) {
  if (gap === null && state !== 'LISTING' && state !== 'BACKING_OFF') return '';
  const since = readInstant((gap === null ? vouchedUntil : gap.from) ?? '');
  return html` <span class="quiet">behind${since === null ? ''
    : ` since ${dayAndClock(since, zone)}`}${gap === null ? ''
    : `: ${gap.reason}`}</span>`;
}

/** @param {{page: import('../page.js').Page}} given */
function Outages({ page }) {
  const answer = page.answers.of('gaps');
  const found = answer.data?.gaps ?? null;
  const outages = [...(found?.outages ?? [])].reverse();
  const gaps = new Map((found?.gaps ?? []).map(
    (/** @type {any} */ gap) => [gap.id, gap]));
  return html`
    <h2>Outages</h2>
    <${Trouble} answer=${answer} zone=${page.place.zone}
      onRetry=${() => page.answers.retry()} />
    ${found && outages.length === 0 && html`<p class="note complete">No gaps:
      the recording is complete.</p>`}
    ${outages.length > 0 && html`
      <table class="gaps stacked">
        <thead><tr><th scope="col">From</th><th scope="col">Length</th>
          <th scope="col">Reason</th><th scope="col">Known to differ</th>
          <th scope="col">May be missing</th></tr></thead>
        <tbody>${outages.map((outage) => html`
          <${OutageRow} key=${outage.gaps[0]} page=${page} outage=${outage}
            gaps=${outage.gaps.map((/** @type {string} */ id) =>
              gaps.get(id))} />`)}</tbody>
      </table>
      ${found.more > 0 && html`<p class="quiet">and
        ${' '}${counted(found.more, 'older gap')}.</p>`}`}
  `;
}

/**
 * One outage, with the gap of each resource as its detail.
 * @param {{page: import('../page.js').Page, outage: any, gaps: any[]}} given
 */
function OutageRow({ page, outage, gaps }) {
  const { zone } = page.place;
  const from = readInstant(outage.from ?? '');
  const to = readInstant(outage.to ?? '');
  const isHealed = gaps.every(({ healed }) => healed);
  return html`
    <tr class=${isHealed ? 'healed' : ''}>
      <td data-name="from"><span class="swatch" aria-hidden="true"></span>
        ${' '}${from === null ? 'the beginning' : dayAndClock(from, zone)}</td>
      <td data-name="length">${to === null ? withoutEnd(outage.reason)
        : from === null ? `until ${dayAndClock(to, zone)}` : span(to - from)}</td>
      <td class="whole">${outage.reason}
        <details><summary>${counted(gaps.length, 'gap')}</summary>
          <ul>${gaps.map((gap) => html`<li key=${gap.id}>
            ${gap.resource ?? 'all resources'}
            ${' '}<a class="code" href=${page.keep({ entry: gap.id })}
              >${gap.id}</a>${gap.proved && `. Proved: ${gap.proved}`}</li>`)}
          </ul></details></td>
      <td class="whole" data-name="known to differ:">${
        changedWords(outage) || 'nothing'}</td>
      <td class="whole" data-name="may be missing:">${isHealed
        ? 'nothing (healed)' : missingWords(outage.possible)}</td>
    </tr>
  `;
}

/**
 * The first objects that an outage changed, and how many more.
 * @param {{changed: {object: string, change: string}[], moreChanged: number}} given
 * @returns {string}
 */
function changedWords({ changed, moreChanged }) {
  const named = changed.slice(0, CHANGED_SHOWN)
    .map(({ object, change }) => `${object} (${change})`);
  const more = changed.length - named.length + moreChanged;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/**
 * What may be missing, the same of several resources once.
 * @param {string[]} possible each `RESOURCE: WHAT`
 * @returns {string}
 */
function missingWords(possible) {
  const texts = possible.map((one) => one.slice(one.indexOf(': ') + 2));
  return [...new Set(texts)].join(', ');
}

/** The sources: what is recorded, how current it is, and the gaps. */

import { GAPS, SOURCES } from '../ask/ofsources.js';
import { html } from '../html.js';
import { logOf, OVERVIEW_EVERY } from '../needs.js';
import { readInstant } from '../time/instant.js';
import { dayAndClock, span } from '../time/clock.js';
import { counted, prose, rounded, size } from '../words/plain.js';
import { clusterOf, recordingOf } from '../words/recording.js';
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
          <${Gaps} page=${page} />`}
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
        <th scope="col">Complete until</th><th scope="col">Lag</th>
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
function Gaps({ page }) {
  const answer = page.answers.of('gaps');
  const found = answer.data?.gaps ?? null;
  const gaps = [...(found?.gaps ?? [])].reverse();
  return html`
    <h2>Gaps</h2>
    <${Trouble} answer=${answer} zone=${page.place.zone}
      onRetry=${() => page.answers.retry()} />
    ${found && gaps.length === 0 && html`<p class="note complete">No gaps:
      the recording is complete.</p>`}
    ${gaps.length > 0 && html`
      <table class="gaps stacked">
        <thead><tr><th scope="col">Resource</th><th scope="col">From</th>
          <th scope="col">Until</th><th scope="col">Reason</th>
          <th scope="col">May be missing</th></tr></thead>
        <tbody>${gaps.map((gap) => html`
          <${GapRow} page=${page} gap=${gap} />`)}</tbody>
      </table>
      ${found.more > 0 && html`<p class="quiet">and
        ${' '}${counted(found.more, 'older gap')}.</p>`}`}
  `;
}

/** @param {{page: import('../page.js').Page, gap: any}} given */
function GapRow({ page, gap }) {
  const { zone } = page.place;
  const from = readInstant(gap.from ?? '');
  const to = readInstant(gap.to ?? '');
  return html`
    <tr class=${gap.healed ? 'healed' : ''}>
      <td class="whole"><span class="swatch" aria-hidden="true"></span>
        ${' '}${gap.resource ?? 'all resources'}
        ${' '}${gap.id && html`<a class="code"
          href=${page.keep({ entry: gap.id })}>${gap.id}</a>`}</td>
      <td data-name="from">${from === null ? 'the beginning'
        : dayAndClock(from, zone)}</td>
      <td data-name="until">${to === null ? 'still open' : dayAndClock(to, zone)}</td>
      <td class="whole">${gap.reason}. ${gap.proved && `Proved: ${gap.proved}.`}</td>
      <td class="whole" data-name="may be missing:">${gap.healed
        ? 'nothing (healed)' : gap.possible.join(', ')}</td>
    </tr>
  `;
}

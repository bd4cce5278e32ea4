/** What a node's failures hit, and what it cost. */

import { html } from '../html.js';
import { readInstant } from '../time/instant.js';
import { clock } from '../time/clock.js';
import { counted, gpuHours, prose } from '../words/plain.js';
import { partOf } from '../words/workload.js';
import { Figure } from './states.js';

/** @param {{page: import('../page.js').Page, impact: any}} given */
export function Jobs({ page, impact }) {
  const { totals, workloads } = impact;
  const since = workloads.filter((/** @type {any} */ hit) =>
    hit.gpuHoursSinceCheckpoint !== null);
  const work = since.reduce((/** @type {number} */ sum, /** @type {any} */ hit) =>
    sum + hit.gpuHoursSinceCheckpoint, 0);
  return html`
    <section id="jobs" aria-labelledby="jobs-title">
      <h2 id="jobs-title">Affected jobs</h2>
      ${workloads.length === 0
        ? html`<p class="quiet">No jobs were affected${impact.coverage.complete
          ? '' : ', as far as recorded'}.</p>`
        : html`
          <div class="figures">
            <${Figure} value=${String(totals.workloads)}
              says=${totals.workloads === 1 ? 'job' : 'jobs'} />
            <${Figure} value=${String(totals.pods)}
              says=${partsOf(workloads, totals.pods)} />
            <${Figure} value=${String(totals.gpus)}
              says=${totals.gpus === 1 ? 'GPU' : 'GPUs'} />
            <${Figure} value="≥ ${gpuHours(totals.gpuHoursLost)}"
              says=${since.length === 0
                ? 'GPU-hours, and the work since the last checkpoint, which is not known'
                : `GPU-hours, and ${gpuHours(work)} since the last checkpoint`} />
          </div>
          <${Hits} page=${page} hits=${workloads} />`}
    </section>
  `;
}

/**
 * What the lost are called: Pods, and members of jobs of Slurm.
 * @param {any[]} hits @param {number} count
 */
const partsOf = (hits, count) => [...new Set(hits.map(({ workload }) =>
  `${partOf(workload.kind)}${count === 1 ? '' : 's'}`))].sort().join(' or ');

/**
 * Hits of workloads, one row each.
 * @param {{page: import('../page.js').Page, hits: any[]}} given
 */
export function Hits({ page, hits }) {
  const { zone } = page.place;
  return html`
    <table class="hits stacked">
      <thead><tr>
        <th scope="col">Disrupted at</th><th scope="col">Job</th>
        <th scope="col">Outcome</th><th scope="col">Size</th>
        <th scope="col">Running again</th><th scope="col">Lost</th>
        <th scope="col">Evidence</th>
      </tr></thead>
      <tbody>
        ${hits.map((hit) => html`
          <tr key="${hit.workload.uid} ${hit.hitAt}">
            <td><time>${clock(readInstant(hit.hitAt) ?? 0, zone)}</time></td>
            <td class="whole"><a href=${page.workloadLink(hit.workload)} title=${hit.says}
              >${hit.workload.namespace}/${hit.workload.name}</a>
              ${' '}<span class="kind">${hit.workload.kind}</span></td>
            <td class="whole">${prose(hit.outcome)} after ${prose(hit.hitBy)} on ${
              hit.nodes.join(', ')}</td>
            <td>${counted(hit.gangSize, partOf(hit.workload.kind))}, ${
              counted(hit.gpus, 'GPU')}</td>
            <td data-name="running again">${hit.runningAgainAt === null
              ? 'not yet'
              : html`<time>${clock(readInstant(hit.runningAgainAt) ?? 0, zone)}
                </time>`}</td>
            <td data-name="lost">≥ ${gpuHours(hit.gpuHoursLost)} GPU-h${
              hit.gpuHoursSinceCheckpoint !== null && html`
              <small>and ${gpuHours(hit.gpuHoursSinceCheckpoint)} since its last
              checkpoint</small>`}</td>
            <td data-name="evidence">
              ${hit.evidence.map((/** @type {string} */ entry) => html`
              <a class="code" href=${page.keep({ entry })}>${entry}</a> `)}</td>
          </tr>
        `)}
      </tbody>
    </table>
  `;
}

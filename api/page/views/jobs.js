/** The jobs: which ran, what ended them, who did, and what it cost. */

import { html } from '../html.js';
import { JOB_WORDS } from '../jobs/filter.js';
import {
  inFull, jobsOf, JOB_COLUMNS, JOB_FACETS, recorderOrder,
} from '../jobs/jobs.js';
import { ofJobs } from '../needs/jobs.js';
import { readInstant } from '../time/instant.js';
import { clock, day, dayAndClock } from '../time/clock.js';
import { endedBy, endedByWhom } from '../words/ending.js';
import { jobsMarkdown } from '../words/markdown.js';
import { counted, gpuHours, prose, term } from '../words/plain.js';
import { partOf, slurmNames } from '../words/workload.js';
import { Facets } from './facets.js';
import { Headings } from './headings.js';
import { Holes, LeftOut } from './leftout.js';
import { Away, Empty, Trouble, Waiting } from './states.js';

/**
 * What is copied of the view.
 * @param {import('../page.js').Page} page
 */
export const markdownOf = ({ jobs, place }) =>
  jobsMarkdown(jobs.jobs, place.zone);

/** What the view requests. */
export const needsOf = ofJobs;

export { jobsOf };

/**
 * The tone in which a state is drawn; the others are calm.
 * @type {Record<string, string>}
 */
const TONES = { DOWN: 'out', FAILED: 'out', DEGRADED: 'work', SUSPENDED: 'node',
  PENDING: 'node', QUEUED: 'node' };

/** @param {{page: import('../page.js').Page}} given */
export function Jobs({ page }) {
  const { place, jobs: list } = page;
  const answers = list.logs.map((/** @type {any} */ { answer }) => answer);
  const failed = answers.filter((/** @type {any} */ { error }) => error !== '');
  const isWaiting = answers.every((/** @type {any} */ { data }) => data === null);
  return html`
    <section class="fleet" aria-labelledby="title">
      <h1 id="title">${isWaiting ? 'Jobs' : headline(list)}</h1>
      ${failed.map((/** @type {any} */ answer) => html`<${Trouble} answer=${answer}
        zone=${place.zone} onRetry=${() => page.answers.retry()} />`)}
      ${page.isOfAll && html`<${Away} away=${page.away} />`}
      <${LeftOut} page=${page} />
      <${Filter} page=${page} list=${list} />
      ${isWaiting
        ? failed.length === 0 && html`<${Waiting} lines=${7}
            says="Loading jobs" />`
        : html`<${Answered} page=${page} list=${list} />`}
      ${list.totals.endings === null && html`<p class="quiet">Of more than 500
        jobs, states, what ended them, and GPU-hours are not counted: choose a
        shorter window, or a filter.</p>`}
    </section>
  `;
}

/**
 * The answer before the list: how many, how often they ended, what it cost.
 * @param {any} list
 */
function headline({ jobs, totals: { workloads, endings, gpuHoursLost }, logs,
  isNarrowed }) {
  const isWhole = !isNarrowed && workloads !== null;
  const count = isWhole ? workloads : jobs.length;
  const times = isWhole ? endings : sumOf(jobs, 'endings');
  const parts = [...new Set(jobs.map((/** @type {any} */ { kind }) =>
    `${partOf(kind)}s`))].sort().join(' or ');
  const lost = isWhole ? gpuHoursLost : sumOf(jobs, 'gpuHoursLost');
  return [
    `${counted(count, 'job')}${logs.length > 1
      ? ` in ${counted(logs.length, 'cluster')}` : ''}`,
    times > 0 && `ended or lost ${parts} ${counted(times, 'time')}`,
    lost > 0 && `at least ${gpuHours(lost)} GPU-hours lost`,
  ].filter(Boolean).join(', ');
}

/** @param {any[]} jobs @param {string} name @returns {number} */
const sumOf = (jobs, name) => jobs.reduce((sum, one) => sum + one[name], 0);

/** @param {{page: import('../page.js').Page, list: any}} given */
function Answered({ page, list: { jobs, logs, facets } }) {
  const { zone, sort } = page.place;
  const { orderBy } = recorderOrder(sort);
  const isOld = logs.some((/** @type {any} */ { answer: { error, key, dataKey } }) =>
    error !== '' || key !== dataKey);
  return html`
    <div class="shift ${isOld ? 'old' : ''}">
      <${Facets} page=${page} facets=${JOB_FACETS} counts=${facets} />
      <div class="what-happened">
        <${Holes} logs=${logs} zone=${zone} />
        ${jobs.length === 0
          ? html`<${Empty} says=${nothing(page, logs)} links=${[]} />`
          : html`<table class="incidents jobs stacked">
              <${Headings} page=${page} columns=${JOB_COLUMNS} />
              <tbody>${jobs.map((/** @type {any} */ job, /** @type {number} */ n) =>
                html`<${Line} key="${job.log} ${job.kind} ${job.uid} ${job.name}"
                  page=${page} job=${job} isChosen=${page.ui.chosen === n}
                  />`)}</tbody></table>`}
        ${page.hasOlder && html`
          <button type="button" class="more" onClick=${() => page.older()}>
            ${orderBy ? 'More jobs' : 'Jobs that began earlier'}</button>
          <p class="quiet">${orderBy ? 'Searched' : 'Sorted, and searched'} for
            causes, among the jobs above.</p>`}
      </div>
    </div>
  `;
}

/** That there is none. @param {import('../page.js').Page} page @param {any[]} logs */
function nothing({ place: { filter } }, logs) {
  const what = filter ? `No jobs match “${filter}” in this window`
    : 'No jobs in this window';
  return logs.every(({ found }) => found?.coverage.complete)
    ? `${what}.` : `${what}, in what was recorded; the recording has gaps.`;
}

/** @param {{page: import('../page.js').Page, job: any, isChosen: boolean}} given */
function Line({ page, job, isChosen }) {
  const { zone } = page.place;
  const { lastEnding: ending, state, cluster } = job;
  const at = readInstant(ending?.at ?? '');
  const began = readInstant(job.beganAt) ?? 0;
  const waits = readInstant(job.waitingSince ?? '');
  const full = inFull(job);
  const by = ending ? endedByWhom(ending) : '';
  const sure = ending ? prose(ending.confidence) : '';
  return html`
    <tr class="incident ${isChosen ? 'chosen' : ''}">
      <td>${at !== null && html`<time title=${dayAndClock(at, zone)}
        >${clock(at, zone)}</time> <small>${day(at, zone)}</small>`}</td>
      <td class="node"><a href=${page.jobLink(job)} aria-current=${isChosen}
        title=${ending?.sentence ?? ''}>${job.namespace}/${job.name}</a>
        ${' '}<small>${[job.kind, slurmNames(job.slurm), cluster]
          .filter(Boolean).join(', ')}</small></td>
      <td><span class="severity ${TONES[state] ?? ''}">${term(state)}</span>${
        waits !== null && html` <small>since ${clock(waits, zone)} ${
          day(waits, zone)}</small>`}</td>
      <td class="cause">${ending && endedBy(ending)}${by && html`
        ${' '}<small>by ${by}</small>`}</td>
      <td data-name=${job.gpus > 0 && 'GPUs'}>${job.gpus > 0 && job.gpus}</td>
      <td data-name="began"><time title="${dayAndClock(began, zone)}"
        >${clock(began, zone)}</time> <small>${day(began, zone)}</small></td>
      <td data-name=${job.restarts > 0 && 'restarts'}>${
        job.restarts > 0 && job.restarts}</td>
      <td class="lost">${job.gpuHoursLost > 0
        && `≥ ${gpuHours(job.gpuHoursLost)} GPU-h`}${
        job.gpuHoursSinceCheckpoint !== null && html`
        <small>and ${gpuHours(job.gpuHoursSinceCheckpoint)} since its last
        checkpoint</small>`}</td>
      <td class="full" data-name=${full !== null && 'in full'}>${full !== null
        && `${Math.floor(full * 100)} %`}</td>
      <td>${sure && html`<span class="sure ${sure}">${sure}</span>`}</td>
    </tr>
  `;
}

/** @param {{page: import('../page.js').Page, list: any}} given */
function Filter({ page, list: { jobs, totals: { workloads } } }) {
  const { filter } = page.place;
  const isPart = filter !== '' || (workloads !== null && jobs.length < workloads);
  const text = !isPart ? '' : workloads === null ? counted(jobs.length, 'job')
    : `${jobs.length} of ${counted(workloads, 'job')}`;
  return html`
    <div class="filter">
      <input type="search" aria-label="Filter jobs" list="job-words"
        placeholder="Filter: any, preemption, down, namespace:train, llm …"
        value=${filter} spellcheck="false"
        onInput=${(/** @type {any} */ event) =>
          page.go({ filter: event.target.value }, { replace: true })} />
      <datalist id="job-words">
        ${JOB_WORDS.map((word) => html`<option key=${word} value=${word} />`)}
      </datalist>
      <output>${text}</output>
    </div>
  `;
}

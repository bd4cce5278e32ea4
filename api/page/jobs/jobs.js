/** The jobs: the answers of the logs of a fleet, combined as the place selects. */

import { jobsSlot } from '../needs.js';
import { sorted } from '../ordering.js';
import { readInstant } from '../time/instant.js';
import { facetsOf } from '../words/counts.js';
import { endedBy, endedByWhom } from '../words/ending.js';
import { objectName, term } from '../words/plain.js';
import { readJobFilter } from './filter.js';
import { slurmNames } from '../words/workload.js';

/** What the recorder counts and selects jobs by. */
export const JOB_FACETS = [
  { facet: 'ended_by', title: 'Ended by', prefix: '' },
  { facet: 'state', title: 'State', prefix: '' },
  { facet: 'kind', title: 'Kind', prefix: 'kind:' },
  { facet: 'namespace', title: 'Namespace', prefix: 'namespace:' },
  { facet: 'queue', title: 'Queue', prefix: 'queue:' },
  { facet: 'priority', title: 'Priority', prefix: 'priority:' },
  { facet: 'user', title: 'User', prefix: 'user:' },
];

/** @param {string | null | undefined} text */
const time = (text) => readInstant(text ?? '') ?? 0;

/**
 * The share of the wanted time in which all Pods ran.
 * @param {any} job
 * @returns {number | null} null where no time was wanted
 */
export const inFull = ({ hoursWanted, hoursInFull }) =>
  hoursWanted > 0 ? Math.min(hoursInFull / hoursWanted, 1) : null;

/**
 * What each column shows, and what it is sorted by: the same thing; by `order`
 * the recorder sorts, so that the first page is the first of all.
 * @type {(import('../ordering.js').Column & {order?: string})[]}
 */
export const JOB_COLUMNS = [
  { id: 'at', title: 'Last ended', order: 'LAST_ENDING',
    by: ({ lastEnding }) => time(lastEnding?.at) },
  { id: 'job', title: 'Job', isWord: true, order: 'NAME',
    by: ({ namespace, name }) => `${namespace}/${name}` },
  { id: 'state', title: 'State', isWord: true, by: ({ state }) => state },
  { id: 'by', title: 'Ended by', isWord: true,
    by: ({ lastEnding }) => lastEnding ? endedBy(lastEnding) : '~' },
  { id: 'gpus', title: 'GPUs', order: 'GPUS', by: ({ gpus }) => gpus },
  { id: 'began', title: 'Began', order: 'BEGAN',
    by: ({ beganAt }) => time(beganAt) },
  { id: 'restarts', title: 'Restarts', by: ({ restarts }) => restarts },
  { id: 'lost', title: 'GPU-hours lost', order: 'GPU_HOURS_LOST',
    by: ({ gpuHoursLost }) => gpuHoursLost },
  { id: 'full', title: 'In full', by: (job) => inFull(job) ?? 2 },
  { id: 'sure', title: 'Confidence', by: ({ lastEnding }) =>
    ['UNKNOWN', 'POSSIBLE', 'LIKELY', 'PROVEN'].indexOf(lastEnding?.confidence) },
];

/**
 * What the recorder sorts by; without a choice it returns those that began
 * last.
 * @param {string} sort
 * @returns {{orderBy: string | null, isDown: boolean}}
 */
export function recorderOrder(sort) {
  const id = sort.replace(/^-/, '');
  const order = JOB_COLUMNS.find((one) => one.id === id)?.order ?? null;
  return { orderBy: order, isDown: !order || sort.startsWith('-') };
}

/**
 * Combine the answers of a fleet about its jobs.
 * @param {import('../reading.js').Reading} page
 */
export function jobsOf(page) {
  const { place, answers } = page;
  const logs = page.fleetLogs.map((known, number) => {
    const slot = jobsSlot(known, number === 0);
    const answer = answers.of(slot);
    const pages = page.pagesOf(slot).map(({ data }) => data.workloads);
    return { known, answer, pages, found: answer.data?.workloads ?? null };
  });
  const isOne = logs.length < 2;
  const all = logs.flatMap(({ known: { log, name }, pages }) => pages.flatMap(
    ({ nodes }) => [...nodes].reverse().map((/** @type {any} */ one) => (
      { ...one, log, cluster: isOne ? '' : name }))));
  const { words } = readJobFilter(place.filter);
  const chosen = all.filter((job) => {
    const text = words.length === 0 ? '' : searched(job);
    return words.every((word) => text.includes(word));
  });
  return {
    logs,
    jobs: sorted(JOB_COLUMNS, chosen, place.sort),
    facets: facetsOf(logs.map(({ found }) => found?.facets ?? [])),
    totals: totalsOf(logs.map(({ found }) => found?.totals)),
    isNarrowed: words.length > 0,
  };
}

/**
 * The words of a job that a filter may ask for.
 * @param {any} job
 * @returns {string}
 */
function searched(job) {
  const { lastEnding: ending, state, cluster } = job;
  return [
    objectName(job), term(state), cluster, slurmNames(job.slurm),
    ...(ending ? [ending.sentence, endedBy(ending), endedByWhom(ending)] : []),
  ].join('\n').toLowerCase();
}

/**
 * Sums over logs.
 * @param {any[]} totals of each log; undefined until it is known
 * @returns {Record<'workloads' | 'endings' | 'gpuHoursLost', number | null>}
 *   null where a log has too many to count them
 */
function totalsOf(totals) {
  const sum = (/** @type {string} */ name) => totals.reduce((all, one) =>
    all === null || (one && one[name] === null) ? null
      : all + (one?.[name] ?? 0), 0);
  return {
    workloads: sum('workloads'), endings: sum('endings'),
    gpuHoursLost: sum('gpuHoursLost'),
  };
}

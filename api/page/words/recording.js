/** How far the recorder is, in words. */

import { readInstant } from '../time/instant.js';
import { clock, dayAndClock, span } from '../time/clock.js';

/**
 * Behind by more than this and the page says so, as the command does: so much
 * of a live log counts as complete before it is proven.
 */
export const BEHIND_MAX = 150_000;

/** Instead of the name of a log: every one. */
export const ALL = 'all';
/** So many logs are asked at once; more are in pages. */
const LOGS_MAX = 50;

/**
 * Whether a place speaks of one log or cluster, by its name.
 * @param {{cluster: string, log: string}} place
 */
export const isNamed = ({ cluster, log }) =>
  cluster !== '' || !['', ALL].includes(log);

/**
 * The logs that the fleet is of: the one that is named, else all that are
 * live, else one tape, or all of them where that is asked for.
 * @param {any} status the answer of the overview
 * @param {{cluster: string, log: string}} place
 * @returns {any[]}
 */
function meantBy(status, place) {
  const all = status?.clusters ?? [];
  const live = all.filter((/** @type {any} */ one) => one.log.kind === 'LIVE');
  if (!isNamed(place) && live.length > 0) return live;
  if (!isNamed(place) && place.log === ALL) return all;
  const one = clusterOf(status, place);
  return one === null ? [] : [one];
}

/**
 * The logs of one page of the fleet.
 * @param {any} status the answer of the overview
 * @param {{cluster: string, log: string, page: number}} place
 * @returns {any[]}
 */
export function fleetOf(status, place) {
  const meant = meantBy(status, place);
  const { first, last } = pageOf(place, meant.length);
  return meant.slice(first - 1, last);
}

/**
 * Which logs are on a page: the last one, where there are fewer.
 * @param {{page: number}} place
 * @param {number} count of all
 */
function pageOf({ page: chosen }, count) {
  const pages = Math.max(Math.ceil(count / LOGS_MAX), 1);
  const page = Math.min(chosen, pages);
  const last = Math.min(page * LOGS_MAX, count);
  return { page, first: (page - 1) * LOGS_MAX + 1, last, hasNext: page < pages };
}

/**
 * What a fleet leaves out.
 * @param {any} status the answer of the overview
 * @param {{cluster: string, log: string, page: number}} place
 * @returns {{page: number, first: number, last: number, hasNext: boolean,
 *   count: number, tapes: number}} which of how many logs are shown, and how many tapes
 *   are shown on no page
 */
export function leftOutOf(status, place) {
  const { length: count } = meantBy(status, place);
  const all = status?.clusters.length ?? 0;
  return {
    ...pageOf(place, count), count, tapes: isNamed(place) ? 0 : all - count,
  };
}

/**
 * The logs that a search is made in: the one that is looked at first.
 * @param {any} status the answer of the overview
 * @param {string} log
 * @returns {any[]}
 */
export function searchedOf(status, log) {
  const all = status?.clusters ?? [];
  return [...all].sort((one, other) =>
    Number(other.log.id === log) - Number(one.log.id === log))
    .slice(0, LOGS_MAX);
}

/**
 * What is known of a log before it is asked.
 * @param {any} cluster
 * @returns {import('../needs.js').Known}
 */
export const knownOf = (cluster) => ({
  log: cluster.log.id,
  name: cluster.name,
  kind: cluster.log.kind,
  began: beganAt(cluster),
  until: readInstant(cluster.coverage.until ?? ''),
});

/**
 * The end of a record, or now.
 * @param {any} cluster
 * @returns {number | null} null for a live log that no recorder writes: no
 *   proof of its last minutes will come
 */
export const endOf = (cluster) =>
  isStopped(cluster) ? null : readInstant(cluster.coverage.until ?? '');

/** Whether no recorder writes a live log. @param {any} cluster */
const isStopped = ({ log, sources }) => log.kind === 'LIVE' && sources.some(
  (/** @type {any} */ one) => one.state === 'STOPPED');

/**
 * The log that a place speaks of: the one that is named, else the first that
 * is live, else the first.
 * @param {any} status the answer of the overview
 * @param {{cluster: string, log: string}} place
 * @returns {any | null} null where there is no such log
 */
export function clusterOf(status, { cluster, log: named }) {
  const log = named === ALL ? '' : named;
  const all = status?.clusters ?? [];
  const live = all.find((/** @type {any} */ one) => one.log.kind === 'LIVE');
  if (log === '' && cluster === '') return live ?? all[0] ?? null;
  const isMeant = (/** @type {any} */ one) =>
    log === '' ? [one.name, one.uid].includes(cluster) : one.log.id === log;
  return all.find(isMeant) ?? null;
}

/**
 * How far the recorder is.
 * @param {any} status the answer of the overview
 * @param {any} cluster one of its clusters
 * @param {'utc' | 'local'} zone
 * @returns {{tone: 'live' | 'behind' | 'tape', says: string}}
 */
export function recordingOf(status, cluster, zone) {
  if (cluster.log.kind === 'TAPE') {
    const last = readInstant(cluster.coverage.until ?? '');
    const end = last === null ? '' : ` until ${dayAndClock(last, zone)}`;
    return { tone: 'tape', says: importedOf(cluster, zone) ?? `tape${end}` };
  }
  const until = readInstant(cluster.coverage.provenUntil ?? '');
  if (isStopped(cluster)) {
    const proven = until === null ? 'nothing proven'
      : `proven until ${dayAndClock(until, zone)}`;
    return { tone: 'behind', says: `not being recorded, ${proven}` };
  }
  if (until === null) return { tone: 'behind', says: 'nothing recorded yet' };
  const behind = Math.max((readInstant(status.now) ?? until) - until, 0);
  if (behind > BEHIND_MAX) {
    const says = `${span(behind)} behind, last data`;
    return { tone: 'behind', says: `${says} ${clock(until, zone)}` };
  }
  return { tone: 'live', says: `proven up to ${span(behind)} ago` };
}

/**
 * What a log holds that was imported from dumps, and from no tape.
 * @param {any} cluster
 * @param {'utc' | 'local'} zone
 * @returns {string | null} null for a tape
 */
function importedOf({ sources }, zone) {
  const watched = sources.filter(
    (/** @type {any} */ one) => one.source === 'WATCH');
  if (watched.length === 0) return sources.length > 0 ? 'imported audit log' : null;
  const dumped = watched.filter((/** @type {any} */ one) =>
    one.state === 'ENDED' && one.beganAt === null);
  if (dumped.length < watched.length) return null;
  const at = Math.max(...dumped.map((/** @type {any} */ one) =>
    readInstant(one.lastFrameAt ?? '') ?? 0));
  return `imported dump of ${dayAndClock(at, zone)}: one state, and Events`;
}

/**
 * How a gap without an end is: what was imported never grows.
 * @param {string} reason of the gap
 * @returns {string}
 */
export const withoutEnd = (reason) =>
  reason.startsWith('imported:') ? 'to the end' : 'still open';

/** What verdicts rest on; other kinds may join years later. */
const BASES = [
  'v1/nodes', 'v1/pods', 'v1/events', 'coordination.k8s.io/v1/leases',
];

/**
 * When everything that verdicts rest on was recorded.
 * @param {any} cluster
 * @returns {number | null}
 */
export function beganAt(cluster) {
  const times = cluster.sources
    .filter((/** @type {any} */ one) => BASES.includes(one.resource))
    .map((/** @type {any} */ one) => readInstant(one.beganAt ?? ''))
    .filter((/** @type {number | null} */ at) => at !== null);
  return times.length === 0 ? null : Math.max(...times);
}

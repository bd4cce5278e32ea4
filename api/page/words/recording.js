/** How far the recorder is, in words. */

import { readInstant } from '../time/instant.js';
import { clock, dayAndClock, span } from '../time/clock.js';

/** Behind by more than this and the page says so, as the command does. */
const BEHIND_MAX = 150_000;

/** Instead of the name of a log: every one. */
export const ALL = 'all';
/** So many logs are asked at once. */
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
export function fleetOf(status, place) {
  const all = status?.clusters ?? [];
  const live = all.filter((/** @type {any} */ one) => one.log.kind === 'LIVE');
  if (!isNamed(place) && live.length > 0) return live.slice(0, LOGS_MAX);
  if (!isNamed(place) && place.log === ALL) return all.slice(0, LOGS_MAX);
  const one = clusterOf(status, place);
  return one === null ? [] : [one];
}

/**
 * How many live logs are left out of a fleet that is of as many as can be.
 * @param {any} status the answer of the overview
 * @param {unknown[]} shown
 * @returns {number}
 */
export function leftOutOf(status, shown) {
  if (shown.length < LOGS_MAX) return 0;
  const live = (status?.clusters ?? []).filter(
    (/** @type {any} */ one) => one.log.kind === 'LIVE');
  return Math.max(live.length - shown.length, 0);
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
    return { tone: 'tape', says: `tape${end}` };
  }
  const until = readInstant(cluster.coverage.provenUntil ?? '');
  if (until === null) return { tone: 'behind', says: 'nothing recorded yet' };
  const behind = Math.max((readInstant(status.now) ?? until) - until, 0);
  if (behind > BEHIND_MAX) {
    const says = `${span(behind)} behind, last data`;
    return { tone: 'behind', says: `${says} ${clock(until, zone)}` };
  }
  return { tone: 'live', says: `complete up to ${span(behind)} ago` };
}

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

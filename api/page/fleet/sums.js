/** Sums over the fleet: when and where it happened, to whom, how often. */

import { readInstant, offsetOf } from '../time/instant.js';
import { logOf } from '../words/incident.js';
import { verb } from '../words/plain.js';
import { rackOf } from './traits.js';

/** @typedef {import('./standing.js').Places} Places */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
/** A day or less is shown by hours. */
const HOURS_SPAN = DAY;
const COLUMNS_MAX = 31;
const ROWS_MAX = 25;

/**
 * @typedef {{from: number, to: number}} Step
 * @typedef {{steps: Step[], isHours: boolean, most: number, left: number,
 *   rows: {name: string, log: string, counts: number[], total: number}[]}} Heat
 *   what has the same name in another log has a row of its own
 */

/**
 * Count incidents by what they struck and by day, or by hour in a short window.
 * @param {any[]} incidents
 * @param {{of: (incident: any) => string[], window: Step,
 *   zone: 'utc' | 'local'}} about `of` names the rows that an incident is in
 * @returns {Heat} rows with the most first; `left` counts rows beyond the bound
 */
export function heatOf(incidents, { of, window, zone }) {
  const isHours = window.to - window.from <= HOURS_SPAN;
  const unit = isHours ? HOUR : DAY;
  const ahead = offsetOf(window.to, zone);
  const end = Math.ceil((window.to + ahead) / unit) * unit - ahead;
  const count = Math.min(
    Math.max(Math.ceil((end - window.from) / unit), 1), COLUMNS_MAX);
  const steps = Array.from({ length: count }, (_, place) => {
    const from = end - (count - place) * unit;
    return { from, to: from + unit };
  });
  const rows = new Map();
  for (const incident of incidents) {
    const at = readInstant(incident.from) ?? 0;
    const place = Math.floor((at - steps[0].from) / unit);
    if (place < 0 || place >= count) continue;
    const log = logOf(incident.id);
    for (const name of of(incident)) {
      const row = rows.get(`${log} ${name}`)
        ?? { name, log, counts: Array(count).fill(0) };
      row.counts[place] += 1;
      rows.set(`${log} ${name}`, row);
    }
  }
  const all = [...rows.values()]
    .map((row) => ({ ...row, total: summed(row.counts) }))
    .sort((one, other) =>
      other.total - one.total || one.name.localeCompare(other.name));
  return {
    steps, isHours, rows: all.slice(0, ROWS_MAX),
    left: Math.max(all.length - ROWS_MAX, 0),
    most: Math.max(...all.flatMap(({ counts }) => counts), 1),
  };
}

/** @param {number[]} numbers */
const summed = (numbers) => numbers.reduce((sum, one) => sum + one, 0);

/**
 * The rows of a heat-map of racks.
 * @param {Places} places
 * @returns {(incident: any) => string[]}
 */
export const racksOf = (places) => (incident) => [...new Set(
  incident.nodes
    .map((/** @type {string} */ node) =>
      rackOf({ ...incident, nodes: [node] }, places))
    .filter((/** @type {string | null} */ rack) => rack !== null))];

/**
 * GPU-hours lost by namespace, most first: they add up to what is charged.
 * @param {any[]} incidents
 * @returns {{name: string, hours: number}[]}
 */
export function hoursByNamespace(incidents) {
  const hours = new Map();
  for (const { workloads } of incidents) {
    for (const { workload, gpuHoursAttributed } of workloads) {
      const { namespace } = workload;
      hours.set(namespace, (hours.get(namespace) ?? 0) + gpuHoursAttributed);
    }
  }
  return [...hours]
    .filter(([, lost]) => lost > 0)
    .map(([name, lost]) => ({ name, hours: lost }))
    .sort((one, other) => other.hours - one.hours);
}

/**
 * How often the same happened to the same node of a log in the week before.
 * @param {any[]} recent incidents of the last days, in any order
 * @returns {Map<string, {times: number, first: number}>} by incident and node,
 *   `ID NODE`; `times` counts the incident itself
 */
export function returnsOf(recent) {
  const inOrder = [...recent].sort((one, other) =>
    (readInstant(one.from) ?? 0) - (readInstant(other.from) ?? 0));
  /** @type {Map<string, number[]>} */
  const times = new Map();
  const found = new Map();
  for (const { id, nodes, happened, from } of inOrder) {
    const at = readInstant(from) ?? 0;
    for (const node of nodes) {
      const key = `${logOf(id)} ${node} ${happened}`;
      const within = (times.get(key) ?? []).filter((one) => at - one <= WEEK);
      within.push(at);
      times.set(key, within);
      found.set(`${id} ${node}`, { times: within.length, first: within[0] });
    }
  }
  return found;
}

/** @type {Record<string, string>} */
const NOUNS = {
  REBOOT: 'reboot', UNREACHABLE: 'loss of contact',
  KUBELET_RESTART: 'kubelet restart', DRAINED: 'drain', CORDONED: 'cordon',
  DEGRADED: 'fault', REPLACED: 'replacement', REJOINED: 'return as a new Node',
  REMOVED: 'removal', JOINED: 'joining',
};
const ORDINALS = ['', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth',
  'seventh', 'eighth', 'ninth', 'tenth'];

/**
 * That a node comes back with the same: `third reboot in 7 days`.
 * @param {any} incident
 * @param {ReturnType<typeof returnsOf>} returns
 * @returns {string} empty at the first time
 */
export function returningWords({ id, nodes, happened }, returns) {
  const most = Math.max(...nodes.map((/** @type {string} */ node) =>
    returns.get(`${id} ${node}`)?.times ?? 1));
  if (most < 2) return '';
  const noun = NOUNS[happened] ?? verb(happened);
  return `${ORDINALS[most] ?? `${most}th`} ${noun} in 7 days`;
}

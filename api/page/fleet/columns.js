/** The columns of the list of incidents, and its order. */

import { readInstant } from '../time/instant.js';
import { term } from '../words/plain.js';
import { severityOf, struckAt } from './traits.js';

/** @typedef {import('./standing.js').Places} Places */

/** @param {any} incident */
const timeOf = ({ from }) => readInstant(from) ?? 0;

/** @param {any} incident */
const lengthOf = ({ to, duration }) => to === null ? Infinity
  : duration?.seconds ?? 0;

/**
 * What each column shows, and what it is sorted by: the same thing.
 * @type {{id: string, title: string,
 *   by: (incident: any, places: Places) => number | string}[]}
 */
export const COLUMNS = [
  { id: 'time', title: 'Began', by: timeOf },
  { id: 'severity', title: 'Severity', by: (one) => -severityOf(one).rank },
  { id: 'struck', title: 'Node or rack',
    by: (one, places) => struckAt(one, places).title },
  { id: 'happened', title: 'Happened', by: ({ happened }) => term(happened) },
  { id: 'length', title: 'For', by: lengthOf },
  { id: 'cause', title: 'Cause', by: ({ cause }) => term(cause) },
  { id: 'jobs', title: 'Jobs', by: ({ totals }) => totals.workloads },
  { id: 'lost', title: 'GPU-hours lost',
    by: ({ totals }) => totals.gpuHoursAttributed },
  { id: 'confidence', title: 'Confidence', by: ({ confidence }) =>
    ['UNKNOWN', 'POSSIBLE', 'LIKELY', 'PROVEN'].indexOf(confidence) },
];

/** Columns that begin with the least, because they are words. */
const WORDS = new Set(['struck', 'happened', 'cause']);

/**
 * Read an order.
 * @param {string} text the name of a column, `-` before it for the most first
 * @returns {{id: string, isDown: boolean}} newest first by default
 */
export function orderOf(text) {
  const id = text.replace(/^-/, '');
  const isKnown = COLUMNS.some((column) => column.id === id);
  return isKnown ? { id, isDown: text.startsWith('-') }
    : { id: 'time', isDown: true };
}

/**
 * The order that a click on a heading asks for: its own, then the reverse.
 * @param {string} now
 * @param {string} id
 * @returns {string} empty for the newest first
 */
export function nextOrder(now, id) {
  const { id: last, isDown } = orderOf(now);
  const begins = !WORDS.has(id);
  const down = last === id ? !isDown : begins;
  return id === 'time' && down ? '' : `${down ? '-' : ''}${id}`;
}

/**
 * Sort incidents by what a column shows; what is equal stays newest first.
 * @param {any[]} incidents
 * @param {string} text as `orderOf` reads it
 * @param {Places} places
 * @returns {any[]}
 */
export function sorted(incidents, text, places) {
  const { id, isDown } = orderOf(text);
  const by = COLUMNS.find((column) => column.id === id)?.by ?? timeOf;
  const keys = new Map(incidents.map((one) => [one, by(one, places)]));
  return [...incidents].sort((one, other) => {
    const [a, b] = [keys.get(one) ?? 0, keys.get(other) ?? 0];
    if (a === b) return timeOf(other) - timeOf(one);
    return (a < b ? -1 : 1) * (isDown ? -1 : 1);
  });
}

/** Times and spans in words and digits, for people. */

import { offsetOf, partsOf } from './instant.js';

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNITS = /** @type {const} */ ([
  ['d', DAY],
  ['h', HOUR],
  ['min', MINUTE],
  ['s', SECOND],
]);

/** @param {number} value @param {number} places */
const padded = (value, places = 2) => String(value).padStart(places, '0');

/**
 * The time of day, to the second: `03:14:07`.
 * @param {number} at
 * @param {'utc' | 'local'} zone
 * @returns {string}
 */
export function clock(at, zone) {
  const { hour, minute, second } = partsOf(at, zone);
  return `${padded(hour)}:${padded(minute)}:${padded(second)}`;
}

/**
 * The time of day to the millisecond: what a pointer is at.
 * @param {number} at
 * @param {'utc' | 'local'} zone
 * @returns {string}
 */
export function exactClock(at, zone) {
  const { micros } = partsOf(at, zone);
  return `${clock(at, zone)}.${padded(Math.floor(micros / 1000), 3)}`;
}

/**
 * The day: `21 Nov 2026`.
 * @param {number} at
 * @param {'utc' | 'local'} zone
 * @returns {string}
 */
export function day(at, zone) {
  const { year, month, day: date } = partsOf(at, zone);
  return `${date} ${MONTHS[month - 1]} ${year}`;
}

/**
 * Day and time of day, with the zone: the whole truth in one line.
 * @param {number} at
 * @param {'utc' | 'local'} zone
 * @returns {string}
 */
export function dayAndClock(at, zone) {
  return `${day(at, zone)}, ${clock(at, zone)} ${zoneName(zone, at)}`;
}

/**
 * How the zone is written: `UTC`, or by how much the local one is ahead.
 * @param {'utc' | 'local'} zone
 * @param {number} at
 * @returns {string}
 */
export function zoneName(zone, at) {
  if (zone === 'utc') return 'UTC';
  const minutes = Math.round(offsetOf(at, zone) / MINUTE);
  const sign = minutes < 0 ? '−' : '+';
  const size = Math.abs(minutes);
  const hours = Math.floor(size / 60);
  return `UTC${sign}${padded(hours)}:${padded(size % 60)}`;
}

/**
 * A span in words, in its two largest units: `6 min 12 s`.
 * @param {number} length milliseconds, of either sign
 * @returns {string}
 */
export function span(length) {
  let rest = Math.abs(length);
  if (rest < SECOND) return `${Math.round(rest)} ms`;
  if (rest < 10 * SECOND) return `${Number((rest / SECOND).toFixed(1))} s`;
  rest = Math.round(rest / SECOND) * SECOND;
  const first = UNITS.findIndex(([, unit]) => rest >= unit);
  const words = [];
  for (const [name, unit] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(rest / unit);
    if (count > 0) words.push(`${count} ${name}`);
    rest -= count * unit;
  }
  return words.join(' ');
}

/**
 * A difference with its sign: `+6 min 12 s`.
 * @param {number} length
 * @returns {string}
 */
export function difference(length) {
  return `${length < 0 ? '−' : '+'}${span(length)}`;
}

/** Times that a person types: a moment, an age, a time of day. */

import { offsetOf, readInstant } from './instant.js';

const AGE = /^-?(\d+(?:\.\d+)?)\s*(s|m|min|h|d|w)$/i;
const CLOCK = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/;
const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?))?$/;
const DAY = 86_400_000;
/** @type {Record<string, number>} */
const UNITS = {
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: DAY,
  w: 7 * DAY,
};

/**
 * How long an age is.
 * @param {string} text as `90s`, `2h`, `3d`
 * @returns {number | null}
 */
export function readAge(text) {
  const found = AGE.exec(text.trim());
  if (found === null) return null;
  return Number(found[1]) * UNITS[found[2].toLowerCase()];
}

/**
 * Read what was typed, in the zone that the page shows.
 * @param {string} text an RFC 3339 time, an age, or a time of day, which is
 *   the one nearest to what is looked at
 * @param {{now: number, near: number, zone: 'utc' | 'local'}} about
 * @returns {number | null}
 */
export function readAsked(text, about) {
  const typed = text.trim();
  const exact = readInstant(typed);
  if (exact !== null) return exact;
  const age = readAge(typed);
  if (age !== null) return about.now - age;
  const date = DATE.exec(typed);
  if (date !== null) {
    const utc = readInstant(`${date[1]}T${date[2] ?? '00:00'}Z`);
    return utc === null ? null : utc - offsetOf(utc, about.zone);
  }
  return nearestClock(CLOCK.exec(typed), about);
}

/**
 * @param {RegExpExecArray | null} found
 * @param {{near: number, zone: 'utc' | 'local'}} about
 */
function nearestClock(found, { near, zone }) {
  if (found === null) return null;
  const [hour, minute, second] = found.slice(1).map((part) => Number(part ?? 0));
  if (hour > 23 || minute > 59 || second > 59) return null;
  const ahead = offsetOf(near, zone);
  const ofDay = ((hour * 60 + minute) * 60 + second) * 1000;
  const midnight = Math.floor((near + ahead) / DAY) * DAY - ahead;
  const days = [-DAY, 0, DAY].map((by) => midnight + by + ofDay);
  return days.reduce((best, at) =>
    Math.abs(at - near) < Math.abs(best - near) ? at : best,
  );
}

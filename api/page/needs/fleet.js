/** What the fleet requests. */

import { INCIDENTS, RECENT } from '../ask/offleet.js';
import {
  fleetSlot, logOf, olderOf, PAGE_LENGTH, written,
} from '../needs.js';
import { readAge } from '../time/asked.js';
import { readInstant } from '../time/instant.js';
import { readFilter } from '../words/filter.js';

/** @typedef {import('../ask/answers.js').Need} Need */
/** @typedef {import('../needs.js').Ready} Ready */
/** @typedef {import('../needs.js').Known} Known */
/** @typedef {import('../route/place.js').Place} Place */

/** Milliseconds; for the other clusters of a fleet, which are not followed. */
const OTHERS_EVERY = 30_000;
const WEEK = 7 * 86_400_000;
const STRIP_STEPS = 120;
/** The default window. */
const LAST = '24h';

/** @param {Ready} state @returns {Need[]} */
export function ofFleet({ place, known, cursorsOf, logs = [known] }) {
  return logs.flatMap((one, number) => {
    const [first, ...others] = ofLog(place, one, number === 0);
    return [first, ...others, ...olderOf(first, cursorsOf)];
  });
}

/**
 * What a fleet requests of one log. The first is followed, the others polled.
 * @param {Place} place
 * @param {Known} known
 * @param {boolean} isFirst
 * @returns {Need[]}
 */
function ofLog(place, known, isFirst) {
  const span = fleetSpan(place, known);
  const variables = {
    ...logOf(known), ...span, ...readFilter(place.filter).variables,
    last: PAGE_LENGTH, steps: STRIP_STEPS,
  };
  /** @type {Need[]} */
  const needs = [{
    slot: fleetSlot(known, isFirst), query: INCIDENTS, variables,
    ...(isFirst ? {} : { every: OTHERS_EVERY }),
  }];
  const week = (known.until ?? 0) - WEEK;
  const isShort = (readInstant(span.since ?? '') ?? known.until ?? 0) > week;
  // Recurrence is counted over a week; a younger log is read in full.
  if (isShort && span.since !== written(known.began)) {
    const since = written(Math.max(week, known.began ?? week));
    needs.push({
      slot: `recent ${known.log}`, query: RECENT, isAside: true,
      variables: { ...logOf(known), since },
    });
  }
  return needs;
}

/**
 * The window of the fleet as it is requested of a log.
 * @param {Place} place
 * @param {Known} known
 */
export function fleetSpan(place, known) {
  if (place.from !== null && place.to !== null) {
    return { since: written(place.from), until: written(place.to) };
  }
  const { began, until, kind } = known;
  const everything = { since: written(began), until: null };
  const age = readAge(place.last || LAST);
  if (age === null || began === null || until === null) return everything;
  // Before it began there is nothing, which need not be shown.
  if (until - age < began) return everything;
  if (kind === 'TAPE') return { since: written(until - age), until: null };
  return { since: place.last || LAST, until: null };
}

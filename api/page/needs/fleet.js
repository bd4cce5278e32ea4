/** What the fleet requests. */

import { INCIDENTS, RECENT } from '../ask/offleet.js';
import {
  fleetSlot, logOf, olderOf, OTHERS_EVERY, PAGE_LENGTH, written,
} from '../needs.js';
import { readInstant } from '../time/instant.js';
import { readFilter } from '../words/filter.js';
import { spanOf } from './span.js';

/** @typedef {import('../ask/answers.js').Need} Need */
/** @typedef {import('../needs.js').Ready} Ready */
/** @typedef {import('../needs.js').Known} Known */
/** @typedef {import('../route/place.js').Place} Place */

const WEEK = 7 * 86_400_000;
const STRIP_STEPS = 120;

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
  const span = spanOf(place, known);
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

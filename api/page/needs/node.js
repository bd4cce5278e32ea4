/** What the view of a node requests. */

import { LATEST, MAP, NODE } from '../ask/ofnode.js';
import { logOf, nodeSlot, written } from '../needs.js';
import { BEHIND_MAX } from '../words/recording.js';
import { metricsOf } from './metrics.js';

/** @typedef {import('../ask/answers.js').Need} Need */
/** @typedef {import('../needs.js').Ready} Ready */

const MAP_STEPS = 240;

/** @param {Ready} state @returns {Need[]} */
export function ofNode(state) {
  const { place, known } = state;
  const log = logOf(known);
  const node = place.name;
  if (place.from === null || place.to === null) {
    const variables = { ...log, node };
    return [{ slot: 'latest', query: LATEST, variables }];
  }
  const asked = asking({ from: place.from, to: place.to }, known);
  return [
    {
      slot: nodeSlot(place), query: NODE,
      variables: { ...log, node, ...asked },
    },
    {
      slot: 'map', query: MAP, isAside: true,
      variables: { ...log, node, since: written(known.began), steps: MAP_STEPS },
    },
    ...metricsOf(state),
  ];
}

/**
 * A window larger than what is shown, on a grid as coarse as it, so that moving
 * it sends a request now and then and not with every step. The margin ends
 * where the record does; the shown part does not, so that the answer states
 * which time in it was not recorded.
 * @param {{from: number, to: number}} window
 * @param {import('../needs.js').Known} known
 * @returns {{since: string | null, until: string | null}}
 */
export function asking({ from, to }, known) {
  const unit = 2 ** Math.ceil(Math.log2(to - from));
  const since = Math.floor(from / unit - 0.5) * unit;
  const until = Math.ceil(to / unit + 0.5) * unit;
  const { began, until: end } = known;
  const isBefore = began !== null && from < began;
  const isBehind = end !== null && from >= end;
  return {
    since: written(isBefore ? since : Math.max(since, began ?? since)),
    // A named end must be proven; none ends where a live log counts as complete.
    until: end !== null && until >= end - BEHIND_MAX && !isBehind
      ? null : written(until),
  };
}

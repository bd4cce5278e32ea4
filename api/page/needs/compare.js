/** What a comparison of two nodes requests. */

import { COMPARABLE, NODE } from '../ask/ofnode.js';
import { logOf, written } from '../needs.js';
import { asking, ofNode } from './node.js';

/** @typedef {import('../ask/answers.js').Need} Need */
/** @typedef {import('../needs.js').Ready} Ready */

/** @param {Ready} state @returns {Need[]} */
export function ofBoth(state) {
  const { place, known } = state;
  const [first] = ofNode(state);
  if (place.from === null || place.to === null) return [first];
  const other = asking(
    { from: place.from + place.shift, to: place.to + place.shift }, known);
  return [first, {
    slot: 'compared', query: NODE,
    variables: { ...logOf(known), node: place.other || place.name, ...other },
  }, {
    slot: 'comparable', query: COMPARABLE, isAside: true,
    variables: {
      ...logOf(known), node: place.name, since: written(known.began),
    },
  }];
}

/** What the view of places requests. */

import { PLACE, PLACES } from '../ask/ofplaces.js';
import { logOf, nameOf, written } from '../needs.js';
import { spanOf } from './span.js';

/** @typedef {import('../ask/answers.js').Need} Need */

/** @param {import('../needs.js').Ready} state @returns {Need[]} */
export function ofPlaces({ place, known }) {
  if (place.name === '') {
    const variables = { ...logOf(known), at: written(place.to) };
    return [{ slot: 'places', query: PLACES, variables }];
  }
  const variables = { ...logOf(known), name: nameOf(place),
    ...spanOf(place, known) };
  return [{ slot: `place ${nameOf(place)}`, query: PLACE, variables }];
}

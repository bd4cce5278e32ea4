/** The window of a list over many logs. */

import { written } from '../needs.js';
import { readAge } from '../time/asked.js';

/** The default window. */
const LAST = '24h';

/**
 * The window of a list as it is requested of a log.
 * @param {import('../route/place.js').Place} place
 * @param {import('../needs.js').Known} known
 */
export function spanOf(place, known) {
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

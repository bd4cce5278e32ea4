/** What the view of an object requests. */

import { DIFFERENCE, OBJECT, OBJECT_AT, WHO } from '../ask/ofobject.js';
import { logOf, nameOf, olderOf, PAGE_LENGTH, written } from '../needs.js';

/** @typedef {import('../ask/answers.js').Need} Need */
/** @typedef {import('../needs.js').Ready} Ready */

/** @param {Ready} state @returns {Need[]} */
export function ofObject({ place, known, cursorsOf }) {
  const log = { ...logOf(known), name: nameOf(place) };
  const variables = { ...log, last: PAGE_LENGTH };
  /** @type {Need} */
  const first = { slot: 'object', query: OBJECT, variables };
  /** @type {Need[]} */
  const needs = [first, ...olderOf(first, cursorsOf)];
  needs.push({
    slot: 'document', query: OBJECT_AT, isAside: true,
    variables: { ...log, time: written(place.to) },
  });
  needs.push({
    slot: 'who', query: WHO, isAside: true,
    variables: { ...log, time: written(place.to) },
  });
  if (place.left !== '' && place.right !== '') {
    needs.push({
      slot: 'difference', query: DIFFERENCE,
      variables: { ...log, from: place.left, to: place.right },
    });
  }
  return needs;
}

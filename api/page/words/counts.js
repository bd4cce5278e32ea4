/** Counts of several logs, added up. */

import { NONE } from './filter.js';

/**
 * Add up what the recorder counted in each log, the most first.
 * @param {{facet: string, words: {word: string | null, count: number}[]}[][]}
 *   logs of each log its facets
 * @returns {Record<string, {word: string, count: number}[]>} by facet
 */
export function facetsOf(logs) {
  /** @type {Record<string, {word: string, count: number}[]>} */
  const found = {};
  for (const { facet, words } of logs.flat()) {
    const list = (found[facet.toLowerCase()] ??= []);
    for (const { word, count } of words) {
      const known = list.find((one) => one.word === (word ?? NONE));
      if (known) known.count += count;
      else list.push({ word: word ?? NONE, count });
    }
  }
  for (const list of Object.values(found)) {
    list.sort((one, other) =>
      other.count - one.count || one.word.localeCompare(other.word));
  }
  return found;
}

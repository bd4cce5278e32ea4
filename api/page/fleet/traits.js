/** What can be said of an incident in a word, to count and to choose by. */

import { readInstant } from '../time/instant.js';
import { day } from '../time/clock.js';
import { term } from '../words/plain.js';
import { placeWords, sharedPlace } from './standing.js';

/** @typedef {import('./standing.js').Places} Places */

/** Where an incident has no such word. */
export const NONE = 'none';

/**
 * Traits by which incidents are counted. An incident has one word of each,
 * except the namespaces of its workloads, which may be several.
 * @type {Record<string, {title: string, isServer?: boolean,
 *   of: (incident: any, places: Places) => string[]}>} `isServer` are those
 *   that the recorder selects by itself
 */
export const TRAITS = {
  cause: { title: 'Cause', isServer: true, of: ({ cause }) => [term(cause)] },
  happened: {
    title: 'Happened', isServer: true, of: ({ happened }) => [term(happened)],
  },
  confidence: {
    title: 'Confidence', isServer: true,
    of: ({ confidence }) => [term(confidence)],
  },
  rack: { title: 'Rack or switch', of: (incident, places) => [
    rackOf(incident, places) ?? NONE] },
  namespace: { title: 'Namespace hit', of: ({ workloads }) => {
    const names = new Set(workloads.map(
      (/** @type {any} */ { workload }) => workload.namespace));
    return names.size === 0 ? [NONE] : [...names];
  } },
  controller: { title: 'Decided by', of: (incident) => [
    deciderOf(incident) ?? NONE] },
};

/**
 * The rack that an incident struck, in one word.
 * @param {any} incident
 * @param {Places} places
 * @returns {string | null}
 */
export function rackOf({ nodes }, places) {
  return sharedPlace(nodes, places)?.value ?? null;
}

/** @param {any} incident @returns {string | null} */
function deciderOf({ verdicts }) {
  const actor = verdicts[0]?.decision?.actor;
  return actor?.name ?? actor?.tool ?? null;
}

/**
 * What an incident struck: its node, or its rack with its nodes.
 * @param {any} incident
 * @param {Places} places
 * @returns {{title: string, detail: string}}
 */
export function struckAt({ nodes, group }, places) {
  const place = sharedPlace(nodes, places);
  if (nodes.length === 1) {
    return { title: nodes[0], detail: place ? placeWords(place) : '' };
  }
  const title = place ? placeWords(place)
    : `${group === 'NODE' ? '' : `${term(group)}, `}${nodes.length} nodes`;
  return { title, detail: nodes.join(', ') };
}

/** From the worst to the least: the word, and the tone that it is drawn in. */
const SEVERITIES = /** @type {const} */ ([
  ['out', 'not back'], ['work', 'work hit'], ['node', 'node only'],
  ['minor', 'minor'],
]);
const LOST = new Set([
  'REBOOT', 'UNREACHABLE', 'REPLACED', 'REJOINED', 'REMOVED',
]);

/**
 * How bad an incident is.
 * @param {any} incident
 * @returns {{rank: number, tone: string, word: string}} rank 0 is the worst
 */
export function severityOf({ to, happened, totals }) {
  const isGone = happened === 'REMOVED' || happened === 'JOINED';
  let rank = LOST.has(happened) ? 2 : 3;
  if (totals.pods > 0) rank = 1;
  if (to === null && !isGone) rank = 0;
  const [tone, word] = SEVERITIES[rank];
  return { rank, tone, word };
}

/**
 * The words of an incident that `trait:word` in a filter chooses by.
 * @param {any} incident
 * @param {string} trait
 * @param {Places} places
 * @returns {string[]}
 */
export function wordsOf(incident, trait, places) {
  return TRAITS[trait]?.of(incident, places) ?? [];
}

/**
 * Count the incidents of each word, most first.
 * @param {any[]} incidents
 * @param {string} trait
 * @param {Places} places
 * @returns {{word: string, count: number}[]}
 */
export function countsOf(incidents, trait, places) {
  const counts = new Map();
  for (const incident of incidents) {
    for (const word of wordsOf(incident, trait, places)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  return [...counts]
    .map(([word, count]) => ({ word, count }))
    .sort((one, other) =>
      other.count - one.count || one.word.localeCompare(other.word));
}

/** What incidents are grouped by. */
export const GROUPINGS = ['day', 'node', ...Object.keys(TRAITS), 'nothing'];

/**
 * Put incidents under headings, in the order in which they come.
 * @param {any[]} incidents
 * @param {string} by one of `GROUPINGS`
 * @param {{places: Places, zone: 'utc' | 'local'}} about
 * @returns {{title: string, incidents: any[]}[]}
 */
export function grouped(incidents, by, { places, zone }) {
  if (by === 'nothing') return [{ title: '', incidents }];
  const groups = new Map();
  for (const incident of incidents) {
    for (const title of titlesOf(incident, by, { places, zone })) {
      groups.set(title, [...(groups.get(title) ?? []), incident]);
    }
  }
  return [...groups].map(([title, list]) => ({ title, incidents: list }));
}

/**
 * @param {any} incident
 * @param {string} by
 * @param {{places: Places, zone: 'utc' | 'local'}} about
 */
function titlesOf(incident, by, { places, zone }) {
  if (by === 'day') return [day(readInstant(incident.from) ?? 0, zone)];
  if (by === 'node') return [incident.nodes.join(', ')];
  return wordsOf(incident, by, places);
}

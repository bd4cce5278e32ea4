/** Traits of incidents, each one word, to count and to filter by. */

import { readInstant } from '../time/instant.js';
import { day } from '../time/clock.js';
import { NONE } from '../words/filter.js';
import { logOf } from '../words/incident.js';
import { term } from '../words/plain.js';
import { placeWords, sharedPlace } from './standing.js';

/** @typedef {import('./standing.js').Places} Places */

/**
 * What the recorder counts and selects incidents by; `prefix` precedes
 * its words in a filter.
 */
export const FACETS = [
  { facet: 'cause', title: 'Cause', prefix: '' },
  { facet: 'happened', title: 'Happened', prefix: '' },
  { facet: 'confidence', title: 'Confidence', prefix: '' },
  { facet: 'rack', title: 'Rack or switch', prefix: 'rack:' },
  { facet: 'namespace', title: 'Namespace hit', prefix: 'namespace:' },
  { facet: 'controller', title: 'Controller', prefix: 'controller:' },
];

/**
 * Traits by which listed incidents are grouped. An incident has one word of
 * each, except the namespaces of its workloads, which may be several.
 * @type {Record<string, {title: string,
 *   of: (incident: any, places: Places) => string[]}>}
 */
export const TRAITS = {
  cause: { title: 'Cause', of: ({ cause }) => [term(cause)] },
  happened: { title: 'Happened', of: ({ happened }) => [term(happened)] },
  confidence: {
    title: 'Confidence', of: ({ confidence }) => [term(confidence)],
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
export function rackOf(incident, places) {
  return sharedPlace(incident, places)?.value ?? null;
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
export function struckAt(incident, places) {
  const { nodes, group } = incident;
  const place = sharedPlace(incident, places);
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
  const isOut = to === null && happened !== 'REMOVED' && happened !== 'DEGRADED';
  let rank = LOST.has(happened) ? 2 : 3;
  if (totals.pods > 0) rank = 1;
  if (isOut) rank = 0;
  const [tone, word] = SEVERITIES[rank];
  return { rank, tone, word };
}

/** What incidents are grouped by. */
export const GROUPINGS = ['day', 'node', ...Object.keys(TRAITS), 'nothing'];

/**
 * Put incidents under headings, in the order in which they come.
 * @param {any[]} incidents
 * @param {string} by one of `GROUPINGS`
 * @param {{places: Places, zone: 'utc' | 'local',
 *   names: Map<string, string>}} about `names` are those of clusters by log, if
 *   there are several
 * @returns {{title: string, incidents: any[]}[]}
 */
export function grouped(incidents, by, about) {
  if (by === 'nothing') return [{ title: '', incidents }];
  const groups = new Map();
  for (const incident of incidents) {
    for (const title of titlesOf(incident, by, about)) {
      groups.set(title, [...(groups.get(title) ?? []), incident]);
    }
  }
  return [...groups].map(([title, list]) => ({ title, incidents: list }));
}

/**
 * @param {any} incident
 * @param {string} by
 * @param {{places: Places, zone: 'utc' | 'local',
 *   names: Map<string, string>}} about
 */
function titlesOf(incident, by, { places, zone, names }) {
  if (by === 'day') return [day(readInstant(incident.from) ?? 0, zone)];
  const cluster = names.get(logOf(incident.id));
  const inIt = (/** @type {string} */ name) =>
    cluster && name !== NONE ? `${cluster}: ${name}` : name;
  if (by === 'node') return [inIt(incident.nodes.join(', '))];
  const words = TRAITS[by].of(incident, places);
  return by === 'rack' ? words.map(inIt) : words;
}

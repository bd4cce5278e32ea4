/**
 * What was not observed, drawn over the lanes that it concerns: gaps, the time
 * before recording began, and the end that nothing vouches for yet.
 */

import { readInstant } from '../time/instant.js';

/** @typedef {import('./lane.js').Lane} Lane */
/** @typedef {import('./lane.js').Unseen} Unseen */

const NODE = ['v1/nodes'];
const ALL = ['v1/nodes', 'v1/pods', 'v1/events'];
/** Which resources each group of lanes rests on. */
const RESTS_ON = /** @type {Record<string, string[]>} */ ({
  node: NODE,
  conditions: NODE,
  taints: NODE,
  actors: ['v1/nodes', 'v1/pods'],
  events: ['v1/events'],
  workloads: ['v1/pods'],
  recorder: ALL,
});

/**
 * Lay what was not seen over a lane.
 * @param {Lane} lane
 * @param {any[]} gaps
 * @param {any[]} sources of the log, each with how far it vouches
 * @returns {Lane}
 */
export function covered(lane, gaps, sources) {
  const rests = RESTS_ON[lane.group] ?? [];
  const concern = (/** @type {any} */ { resource }) =>
    resource === null || rests.includes(resource);
  return {
    ...lane,
    unseen: [
      ...gaps.filter(concern).map(unseenOf),
      ...edgesOf(sources.filter(({ resource }) => rests.includes(resource))),
    ],
  };
}

/** @param {any} gap @returns {Unseen} */
function unseenOf(gap) {
  return {
    from: readInstant(gap.from ?? '') ?? -Infinity,
    to: readInstant(gap.to ?? '') ?? Infinity,
    label: `gap: ${gap.resource ?? 'all resources'}, ${gap.reason}`,
  };
}

/** @param {any[]} sources @returns {Unseen[]} */
function edgesOf(sources) {
  const began = instants(sources, 'beganAt');
  const until = instants(sources, 'vouchedUntil');
  const edges = [];
  if (began.length > 0) {
    const to = Math.max(...began);
    edges.push({ from: -Infinity, to, label: 'before recording started' });
  }
  if (until.length > 0) {
    const from = Math.min(...until);
    edges.push({ from, to: Infinity, label: 'not confirmed complete yet' });
  }
  return edges;
}

/** @param {any[]} sources @param {string} name */
function instants(sources, name) {
  return sources
    .map((source) => readInstant(source[name] ?? ''))
    .filter((at) => at !== null);
}

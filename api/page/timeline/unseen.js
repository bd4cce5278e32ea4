/**
 * What was not observed, drawn over the lanes that it concerns: gaps, the time
 * before recording began, and the end that nothing vouches for yet.
 */

import { readInstant } from '../time/instant.js';
import { BEHIND_MAX } from '../words/recording.js';

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
 * @param {number | null} end of the record, or now
 * @returns {Lane}
 */
export function covered(lane, gaps, sources, end) {
  const rests = RESTS_ON[lane.group] ?? [];
  const concern = (/** @type {any} */ { resource }) =>
    resource === null || rests.includes(resource);
  return {
    ...lane,
    unseen: [
      ...gaps.filter(concern).map(unseenOf),
      ...edgesOf(
        sources.filter(({ resource }) => rests.includes(resource)), end),
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

/** @param {any[]} sources @param {number | null} end @returns {Unseen[]} */
function edgesOf(sources, end) {
  const began = instants(sources, 'beganAt');
  const until = instants(sources, 'vouchedUntil');
  const edges = [];
  if (began.length > 0) {
    const to = Math.max(...began);
    edges.push({ from: -Infinity, to, label: 'before recording started' });
  }
  if (until.length > 0) {
    const proven = Math.min(...until);
    const isComplete = end !== null && end - proven <= BEHIND_MAX;
    const from = isComplete ? Math.max(proven, end) : proven;
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

/** The lanes of a workload: its Pods, a row for each node that they ran on. */

import { readInstant } from '../time/instant.js';
import { lostOn } from '../words/ending.js';
import { addPlacement } from './ofnode.js';
import { covered } from './unseen.js';

/** @typedef {import('./lane.js').Lane} Lane */

/** Of more nodes only those are drawn on which Pods were lost. */
export const LANES_ALL = 40;
const LANES_MAX = 400;

/**
 * Make the lanes of a workload, in order of the first binding on each node.
 * @param {any} story the answer of the query `WORKLOAD`
 * @param {any[]} endings of the query `ENDINGS`
 * @param {any[]} sources of the log
 * @param {number | null} end of the record, or now
 * @returns {Lane[]}
 */
export function lanesOfWorkload(story, endings, sources, end) {
  /** @type {Map<string, Lane>} */
  const lanes = new Map();
  for (const placement of story.placements) {
    const node = placement.node ?? 'waiting for a node';
    const lane = lanes.get(node) ?? emptyLane(node);
    addPlacement(lane, placement);
    lanes.set(node, lane);
  }
  const struck = new Set(endings.flatMap(lostOn));
  const isLarge = lanes.size > LANES_ALL && struck.size > 0;
  for (const ending of endings) addEnding(lanes, ending);
  const { gaps } = story.coverage;
  return [...lanes]
    .filter(([node]) => !isLarge || struck.has(node))
    .slice(0, LANES_MAX)
    .map(([, lane]) => covered(lane, gaps, sources, end));
}

/** @param {string} node @returns {Lane} */
function emptyLane(node) {
  return {
    id: `node ${node}`, title: node, group: 'workloads', spans: [], marks: [],
    unseen: [],
  };
}

/** Mark each lost Pod. @param {Map<string, Lane>} lanes @param {any} ending */
function addEnding(lanes, { at, pods, members, evidence }) {
  const times = new Map(evidence.map((/** @type {any} */ one) =>
    [one.entry, one.at]));
  for (const { pod, node, says, entry } of members) {
    if (pods.includes(pod)) lanes.get(node)?.marks.push({
      at: readInstant(times.get(entry) ?? at) ?? 0, tone: 'notready',
      label: says, entry,
    });
  }
}

/** The lanes of a workload: its Pods, a row for each node that they ran on. */

import { readInstant } from '../time/instant.js';
import { addPlacement } from './ofnode.js';
import { covered } from './unseen.js';

/** @typedef {import('./lane.js').Lane} Lane */

const LANES_MAX = 400;

/**
 * Make the lanes of a workload, in order of the first binding on each node.
 * @param {any} story the answer of the query `WORKLOAD`
 * @param {any[]} sources of the log
 * @returns {Lane[]}
 */
export function lanesOfWorkload(story, sources) {
  /** @type {Map<string, Lane>} */
  const lanes = new Map();
  for (const placement of story.placements) {
    const node = placement.node ?? 'waiting for a node';
    const lane = lanes.get(node) ?? emptyLane(node);
    addPlacement(lane, placement);
    lanes.set(node, lane);
  }
  for (const hit of story.hits) {
    for (const node of hit.nodes) addHit(lanes.get(node), hit);
  }
  const { gaps } = story.coverage;
  return [...lanes.values()]
    .slice(0, LANES_MAX)
    .map((lane) => covered(lane, gaps, sources));
}

/** @param {string} node @returns {Lane} */
function emptyLane(node) {
  return {
    id: `node ${node}`, title: node, group: 'workloads', spans: [], marks: [],
    unseen: [],
  };
}

/** @param {Lane | undefined} lane @param {any} hit */
function addHit(lane, hit) {
  const at = readInstant(hit.hitAt);
  if (lane === undefined || at === null) return;
  lane.marks.push({
    at, tone: 'notready', label: hit.says, entry: hit.evidence[0] ?? null,
  });
}

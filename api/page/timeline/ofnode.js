/** The lanes of a node, from what the recorder says of its timeline. */

import { readInstant } from '../time/instant.js';
import { phaseOf } from '../words/workload.js';
import { covered } from './unseen.js';

/** @typedef {import('./lane.js').Lane} Lane */
/** @typedef {import('./lane.js').Tone} Tone */

/** @type {Record<string, {tone: Tone, label: string}>} */
export const SERVICE = {
  IN_SERVICE: { tone: 'service', label: 'in service' },
  DEGRADED: { tone: 'degraded', label: 'degraded' },
  CORDONED: { tone: 'cordoned', label: 'cordoned or tainted' },
  NOT_READY: { tone: 'notready', label: 'not ready' },
  UNKNOWN: { tone: 'unknown', label: 'not reporting to the control plane' },
  ABSENT: { tone: 'absent', label: 'Node does not exist' },
};

const ACTORS_MAX = 24;
const PODS_MAX = 150;

/** @param {string | null} text @param {number} without */
const instant = (text, without) =>
  text === null ? without : (readInstant(text) ?? without);

/** @param {{from: string | null, to: string | null}} given */
const edges = ({ from, to }) => ({
  from: instant(from, -Infinity),
  to: instant(to, Infinity),
});

/**
 * Make the lanes of a node, in the order in which they are read.
 * @param {any} timeline as the query `NODE` asks for it
 * @param {any[]} verdicts of the same window
 * @param {any[]} sources of the log
 * @param {number | null} end of the record, or now
 * @returns {Lane[]}
 */
export function lanesOfNode(timeline, verdicts, sources, end) {
  const lanes = [
    serviceLane(timeline),
    ...conditionLanes(timeline),
    bootLane(timeline),
    ...taintLanes(timeline),
    ...actorLanes(timeline),
    eventLane(timeline),
    ...podLanes(timeline),
    ...dpuLanes(timeline),
  ];
  const numbered = withSteps(lanes, verdicts);
  const { gaps } = timeline;
  return [...numbered, recorderLane()].map(
    (lane) => covered(lane, gaps, sources, end));
}

/** @param {string} id @param {string} title @param {string} group */
function emptyLane(id, title, group) {
  return /** @type {Lane} */ ({
    id, title, group, spans: [], marks: [], unseen: [],
  });
}

/** @param {any} timeline */
function serviceLane(timeline) {
  const lane = emptyLane('service', 'service', 'node');
  for (const span of timeline.service) {
    const { tone, label } = SERVICE[span.state];
    lane.spans.push({ ...edges(span), tone, label, entry: span.entry });
  }
  return lane;
}

/** @param {any} span @returns {Tone} */
function conditionTone(span) {
  if (span.type === 'Ready') {
    if (span.status === 'True') return 'service';
    return span.status === 'False' ? 'notready' : 'unknown';
  }
  if (span.status === 'Unknown') return 'unknown';
  if (span.isFault) return 'degraded';
  return 'plain';
}

/** @param {any} timeline */
function conditionLanes(timeline) {
  /** @type {Map<string, Lane>} */
  const lanes = new Map();
  const readyFirst = [...timeline.conditions].sort(
    (one, other) =>
      Number(other.type === 'Ready') - Number(one.type === 'Ready'),
  );
  for (const span of readyFirst) {
    const id = `condition ${span.type}`;
    const lane = lanes.get(id) ?? emptyLane(id, span.type, 'conditions');
    const why = span.reason ? `: ${span.reason}` : '';
    const label = `${span.status}${why}`;
    const tone = conditionTone(span);
    lane.spans.push({ ...edges(span), tone, label, entry: span.entry });
    lanes.set(id, lane);
  }
  return [...lanes.values()];
}

/** @param {any} timeline */
function bootLane(timeline) {
  const lane = emptyLane('boot', 'boot', 'node');
  timeline.boots.forEach((/** @type {any} */ span, /** @type {number} */ n) => {
    const label = `boot ${span.bootId}`;
    const { entry } = span;
    lane.spans.push({ ...edges(span), tone: 'calm', label, entry });
    if (n > 0 && span.from !== null) {
      const at = instant(span.from, 0);
      lane.marks.push({ at, tone: 'strong', label, entry });
    }
  });
  return lane;
}

/** @param {any} timeline */
function taintLanes(timeline) {
  const lanes = new Map();
  const cordon = emptyLane('cordon', 'cordoned', 'taints');
  for (const span of timeline.cordons) {
    const label = `cordoned${by(span.actor)}`;
    cordon.spans.push({
      ...edges(span), tone: 'cordoned', label, entry: span.entry,
    });
  }
  if (cordon.spans.length > 0) lanes.set(cordon.id, cordon);
  for (const span of timeline.taints) {
    const id = `taint ${span.key}:${span.effect}`;
    const title = `${shortKey(span.key)}:${span.effect}`;
    const lane = lanes.get(id) ?? emptyLane(id, title, 'taints');
    const value = span.value ? `=${span.value}` : '';
    const label = `tainted${value}${by(span.actor)}`;
    lane.spans.push({
      ...edges(span), tone: 'cordoned', label, entry: span.entry,
    });
    lanes.set(id, lane);
  }
  return [...lanes.values()];
}

/** What differs first: a lane has little room. @param {string} actor */
function actorTitle(actor) {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):(.+)$/.exec(actor) ?? [];
  return name ? `${name} (${namespace})` : actor;
}

/** @param {string | null} actor */
const by = (actor) => (actor ? `, by ${actor}` : '');

/** @param {string} key */
const shortKey = (key) => key.replace(/^node\.kubernetes\.io\//, '');

/** @param {any} fact */
const isEvent = (fact) => fact.kind === 'EVENT';

/** @param {any} fact @returns {import('./lane.js').Mark} */
function markOf(fact) {
  return {
    at: instant(fact.at, 0),
    tone: isEvent(fact) && fact.type === 'Warning' ? 'degraded' : 'strong',
    label: fact.says,
    entry: fact.entry,
  };
}

/** @param {any} timeline */
function actorLanes(timeline) {
  /** @type {Map<string, Lane>} */
  const lanes = new Map();
  for (const fact of timeline.facts) {
    if (fact.actor === null || isEvent(fact)) continue;
    const id = `actor ${fact.actor}`;
    const lane = lanes.get(id) ?? emptyLane(id, actorTitle(fact.actor), 'actors');
    lane.marks.push(markOf(fact));
    lanes.set(id, lane);
  }
  return [...lanes.values()].slice(0, ACTORS_MAX);
}

/** @param {any} timeline */
function eventLane(timeline) {
  const lane = emptyLane('events', 'Events', 'events');
  for (const fact of timeline.facts) {
    if (isEvent(fact)) lane.marks.push(markOf(fact));
  }
  return lane;
}

/** @param {any} timeline */
function podLanes(timeline) {
  const lanes = new Map();
  const ofWorkloads = timeline.placements.filter(
    (/** @type {any} */ one) => one.workload !== null,
  );
  for (const placement of ofWorkloads.slice(-PODS_MAX)) {
    const { namespace, name, kind } = placement.workload;
    const id = `workload ${kind}/${namespace}/${name}`;
    const title = `${namespace}/${name}`;
    const lane = lanes.get(id) ?? emptyLane(id, title, 'workloads');
    addPlacement(lane, placement);
    lanes.set(id, lane);
  }
  return [...lanes.values()];
}

/**
 * Add a Pod to a lane: it waits, runs, and ends.
 * @param {Lane} lane
 * @param {any} placement
 */
export function addPlacement(lane, placement) {
  const bound = instant(placement.boundAt, -Infinity);
  const running = instant(placement.runningAt, Infinity);
  const ended = instant(placement.endedAt, Infinity);
  const asked = Math.min(instant(placement.deletingAt, Infinity), ended);
  const entry = placement.entries.at(-1) ?? null;
  const { pod } = placement;
  const begins = Math.min(running, asked);
  const parts = /** @type {[number, number, Tone, string][]} */ ([
    [bound, begins, 'plain', `${pod} is starting`],
    [begins, asked, 'service', `${pod} runs`],
    [asked, ended, 'degraded', `${pod} is being deleted`],
  ]);
  for (const [from, to, tone, label] of parts) {
    if (from < to) lane.spans.push({ from, to, tone, label, entry });
  }
  if (ended < Infinity) {
    const failed = placement.phase === 'Failed' || placement.disruption;
    const how = placement.disruption ?? phaseOf(placement);
    lane.marks.push({
      at: ended,
      tone: failed ? 'notready' : 'strong',
      label: `${pod}: ${how}`,
      entry,
    });
  }
}

/**
 * The DPUs in the node, beside it: each is a Node of another cluster.
 * @param {any} timeline
 * @returns {Lane[]}
 */
function dpuLanes(timeline) {
  return timeline.dpus.flatMap((/** @type {any} */ dpu) => {
    const name = `DPU ${dpu.node ?? ''}`.trim();
    if (dpu.node === null) {
      const lane = emptyLane(name, name, 'dpus');
      const label = dpu.cluster === null
        ? 'not recorded: no log has its Node'
        : `not recorded: the log of ${dpu.cluster} cannot be read`;
      lane.spans.push({
        from: -Infinity, to: Infinity, tone: 'unknown', label, entry: null,
      });
      return [lane];
    }
    return [serviceLane(dpu), ...conditionLanes(dpu)].map((lane) => ({
      ...lane, id: `${name} ${lane.id}`, group: 'dpus',
      title: lane.id === 'service'
        ? `${name}, ${dpu.cluster}`
        : `DPU ${lane.title}`,
    }));
  });
}

/**
 * Number the steps of the verdicts on the lanes.
 * @param {Lane[]} lanes
 * @param {any[]} verdicts
 */
function withSteps(lanes, verdicts) {
  for (const verdict of verdicts) {
    for (const [place, step] of verdict.steps.entries()) {
      const at = instant(step.at, 0);
      const [entry] = step.entries;
      const lane = laneOfSign(lanes, entry, at);
      if (lane === undefined) continue;
      lane.marks.push({
        at, tone: 'strong', label: step.says, entry, step: place + 1,
      });
    }
  }
  return lanes;
}

/** @param {Lane[]} lanes @param {string} entry @param {number} at */
function laneOfSign(lanes, entry, at) {
  const ofEntry = (/** @type {{entry: string | null}} */ one) =>
    one.entry === entry;
  const stated = lanes.filter((lane) => lane.group !== 'actors');
  return (
    stated.find((lane) =>
      lane.spans.some((span) => ofEntry(span) && span.from === at)) ??
    stated.find((lane) => lane.spans.some(ofEntry)) ??
    lanes.find((lane) => lane.marks.some(ofEntry)) ??
    lanes.find((lane) => lane.id === 'service')
  );
}

/** The recorder itself: what it saw is a line, what it did not is hatched. */
function recorderLane() {
  const lane = emptyLane('recorder', 'recorder', 'recorder');
  lane.spans.push({
    from: -Infinity, to: Infinity, tone: 'plain', label: 'recorded',
    entry: null,
  });
  return lane;
}

/** One incident in the words of one line. */

import { span } from '../time/clock.js';
import { term } from './plain.js';

/** Milliseconds. */
const SECOND = 1000;

/**
 * The log of a verdict or an incident.
 * @param {string} id
 * @returns {string}
 */
export const logOf = (id) => id.slice(0, id.lastIndexOf('/'));

/**
 * What is said of an incident that is not over.
 * @type {Record<string, string>}
 */
const WITHOUT_END = { REMOVED: '', DEGRADED: 'lasting' };

/**
 * How long it lasted, as its sentence says.
 * @param {any} incident
 * @returns {string}
 */
export function lasted({ happened, to, duration }) {
  if (to === null) return WITHOUT_END[happened] ?? 'not back';
  return duration === null ? '' : lasts(duration.seconds, duration.atMost);
}

/**
 * A duration in whole seconds, with its bound.
 * @param {number} seconds
 * @param {boolean} atMost
 * @returns {string}
 */
export const lasts = (seconds, atMost) =>
  `${span(Math.round(seconds) * SECOND)}${atMost ? ' at most' : ''}`;

/**
 * Fault and decision, as one leads to the other.
 * @param {any} incident
 * @returns {string}
 */
export function because({ cause, verdicts }) {
  const [first] = verdicts;
  const fault = first?.fault ? term(first.fault.class) : null;
  const decision = first?.decision ? term(first.decision.class) : null;
  if (fault && decision) return `${fault} → ${decision}`;
  if (cause === 'UNRECORDED') return 'cause unknown';
  return fault ?? decision ?? term(cause);
}

/**
 * The words of an incident that a filter may ask for.
 * @param {any} incident
 * @returns {string}
 */
function searched(incident) {
  const jobs = incident.workloads.map(
    (/** @type {any} */ { workload }) =>
      `${workload.kind} ${workload.namespace}/${workload.name}`,
  );
  return [
    incident.sentence, because(incident), term(incident.happened),
    term(incident.confidence), term(incident.group), ...incident.nodes, ...jobs,
  ].join('\n').toLowerCase();
}

/**
 * The incidents of several answers, each once.
 * @param {any[]} pages answers of the query for them
 * @param {string[]} words that all of them have to have
 * @returns {any[]}
 */
export function incidentsOf(pages, words) {
  const all = pages.flatMap((data) =>
    [...(data?.incidents?.nodes ?? [])].reverse());
  const once = [...new Map(all.map((one) => [one.id, one])).values()];
  return once.filter((incident) => {
    const text = words.length === 0 ? '' : searched(incident);
    return words.every((word) => text.includes(word));
  });
}

/** One incident in the words of one line. */

import { readInstant } from '../time/instant.js';
import { span } from '../time/clock.js';
import { readFilter } from './filter.js';
import { counted, rounded, term, verb } from './plain.js';

/**
 * What an incident struck: a node by its name, or how many together.
 * @param {any} incident
 * @returns {string}
 */
export function struck({ nodes, group }) {
  if (nodes.length === 1) return nodes[0];
  const what = group === 'NODE' ? '' : `${term(group)}, `;
  return `${what}${nodes.length} nodes`;
}

/**
 * What happened, and for how long.
 * @param {any} incident
 * @returns {string}
 */
export function happenedFor({ happened, from, to }) {
  if (to === null) return `${verb(happened)}, not back`;
  const length = (readInstant(to) ?? 0) - (readInstant(from) ?? 0);
  return `${verb(happened)}, ${span(length)}`;
}

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
 * What it cost.
 * @param {any} incident
 * @returns {string} empty where nothing was hit
 */
export function cost({ totals }) {
  if (totals.workloads === 0) return '';
  const parts = [counted(totals.workloads, 'job')];
  if (totals.gpus > 0) parts.push(`${totals.gpus} GPU`);
  if (totals.gpuHoursLost > 0) {
    parts.push(`≥ ${rounded(totals.gpuHoursLost)} GPU-h`);
  }
  return parts.join(' · ');
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
 * The incidents that are listed, newest first, each once.
 * @param {any[]} pages answers of the query for them, the newest page first
 * @param {string} filter
 * @returns {any[]}
 */
export function incidentsOf(pages, filter) {
  const { words } = readFilter(filter);
  const all = pages.flatMap((data) =>
    [...(data?.incidents?.nodes ?? [])].reverse());
  const once = [...new Map(all.map((one) => [one.id, one])).values()];
  return once.filter((incident) => {
    const text = words.length === 0 ? '' : searched(incident);
    return words.every((word) => text.includes(word));
  });
}

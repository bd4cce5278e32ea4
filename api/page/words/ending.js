/** Endings of workloads in words: what ended one, who did, and its path. */

import { actorName } from './author.js';
import { because } from './incident.js';
import { objectName, term } from './plain.js';

/**
 * What ended it, with the fault or decision behind it.
 * @param {any} ending
 * @returns {string}
 */
export function endedBy({ endedBy: what, verdict }) {
  if (!verdict) return term(what);
  return `${term(what)}: ${because({ cause: verdict.cause, verdicts: [verdict] })}`;
}

/** Who created what took the place of a workload. @param {any} preemptor */
export const createdBy = ({ actor }) =>
  actor ? `, created by ${actorName(actor)}` : '';

/**
 * Who ended it: what took its place, or who deleted, suspended or decided it.
 * @param {any} ending
 * @returns {string} empty if that is not recorded
 */
export function endedByWhom({ actor, preemptor, verdict }) {
  if (preemptor) return `${objectName(preemptor)}${createdBy(preemptor)}`;
  const who = actor ?? verdict?.decision?.actor ?? null;
  return who === null ? '' : actorName(who);
}

/**
 * The path of an ending: the steps of the verdict behind it, or else the
 * records of its own end, each once.
 * @param {any} ending
 * @returns {{steps: any[], evidence: any[]}}
 */
export function pathOf({ verdict, evidence, pods, members }) {
  if (verdict) return verdict;
  const first = members.find((/** @type {any} */ { pod }) => pods.includes(pod));
  const about = first ? `/${first.pod}: ` : '';
  const own = evidence.filter((/** @type {any} */ { says }) =>
    says.includes(about));
  const steps = new Map();
  for (const { entry, at, says: text } of own.length > 0 ? own : evidence) {
    const says = about === '' ? text : text.split(about).at(-1);
    const step = steps.get(entry);
    if (step) step.says += `; ${says}`;
    else steps.set(entry, { role: '', at, says, actor: null, entries: [entry] });
  }
  return { steps: [...steps.values()], evidence };
}

/**
 * The nodes on which Pods were lost, without those on which others stopped.
 * @param {any} ending
 * @returns {string[]}
 */
export function lostOn({ nodes, pods, members }) {
  const lost = new Set(members.flatMap((/** @type {any} */ { pod, node }) =>
    pods.includes(pod) ? [node] : []));
  return lost.size === 0 ? nodes : nodes.filter(
    (/** @type {string} */ node) => lost.has(node));
}

/** So many verdicts are listed one by one. */
const VERDICTS_ALONE = 10;

/**
 * Verdicts one by one; where there are many, those together that are of one
 * cause.
 * @param {any[]} verdicts
 * @returns {any[][]} the most first
 */
export function alike(verdicts) {
  if (verdicts.length <= VERDICTS_ALONE) return verdicts.map((one) => [one]);
  const groups = new Map();
  for (const verdict of verdicts) {
    const { happened, confidence, cause } = verdict;
    const key = `${happened} ${confidence} ${because({ cause, verdicts: [verdict] })}`;
    groups.set(key, [...(groups.get(key) ?? []), verdict]);
  }
  return [...groups.values()].sort((one, other) => other.length - one.length);
}

/** The places of nodes: the rack or the switch, by their labels. */

import { logOf } from '../words/incident.js';

/** Of keys of labels, by their last part: the narrower first. The recorder
 * chooses racks by the same; a zone is too wide to be what failed together. */
const NARROW = ['rack', 'pdu', 'switch', 'leaf-switch', 'block'];

/**
 * @typedef {{key: string, value: string}} Label
 * @typedef {Map<string, Label[]>} Places of nodes the labels of their place, by
 *   log and name: clusters may have nodes of equal names
 */

/**
 * Collect the places of nodes from answers.
 * @param {{log: string, data: any}[]} pages answers of the query `INCIDENTS`
 * @returns {Places}
 */
export function placesOf(pages) {
  /** @type {Places} */
  const places = new Map();
  for (const { log, data } of pages) {
    for (const { node, key, value } of data?.incidents?.places ?? []) {
      const name = `${log} ${node}`;
      const labels = places.get(name) ?? [];
      if (!labels.some((one) => one.key === key)) labels.push({ key, value });
      places.set(name, labels);
    }
  }
  return places;
}

/** @param {string} key */
const lastPart = (key) => key.slice(key.lastIndexOf('/') + 1);

/** @param {Label} label @returns {number} -1 of what is wide */
const narrowness = ({ key }) => NARROW.indexOf(lastPart(key));

/**
 * The narrowest place that all nodes of an incident share.
 * @param {{id: string, nodes: string[]}} incident
 * @param {Places} places
 * @returns {Label | null} null where no label says so
 */
export function sharedPlace({ id, nodes }, places) {
  const [first, ...others] = nodes.map((node) =>
    places.get(`${logOf(id)} ${node}`) ?? []);
  const shared = (first ?? [])
    .filter((label) => narrowness(label) >= 0)
    .filter(({ key, value }) => others.every((labels) =>
      labels.some((one) => one.key === key && one.value === value)))
    .sort((one, other) => narrowness(one) - narrowness(other));
  return shared[0] ?? null;
}

/**
 * A place in words: `rack r7`, `leaf-switch l-12`.
 * @param {Label} label
 * @returns {string}
 */
export function placeWords({ key, value }) {
  const word = lastPart(key).toLowerCase();
  return value.toLowerCase().startsWith(word) ? value : `${word} ${value}`;
}

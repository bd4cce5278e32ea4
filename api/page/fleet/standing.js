/** The places of nodes: the rack or the switch, by their labels. */

/** Of keys of labels, by their last part: the narrower first. The recorder
 * chooses racks by the same; a zone is too wide to be what failed together. */
const NARROW = ['rack', 'pdu', 'switch', 'leaf-switch', 'block'];

/**
 * @typedef {{key: string, value: string}} Label
 * @typedef {Map<string, Label[]>} Places of nodes the labels of their place
 */

/**
 * Collect the places of nodes from answers.
 * @param {any[]} pages answers of the query `INCIDENTS`
 * @returns {Places}
 */
export function placesOf(pages) {
  /** @type {Places} */
  const places = new Map();
  for (const page of pages) {
    for (const { node, key, value } of page?.incidents?.places ?? []) {
      const labels = places.get(node) ?? [];
      if (!labels.some((one) => one.key === key)) labels.push({ key, value });
      places.set(node, labels);
    }
  }
  return places;
}

/** @param {string} key */
const lastPart = (key) => key.slice(key.lastIndexOf('/') + 1);

/** @param {Label} label @returns {number} -1 of what is wide */
const narrowness = ({ key }) => NARROW.indexOf(lastPart(key));

/**
 * The narrowest place that all of these nodes share.
 * @param {string[]} nodes
 * @param {Places} places
 * @returns {Label | null} null where no label says so
 */
export function sharedPlace(nodes, places) {
  const [first, ...others] = nodes.map((node) => places.get(node) ?? []);
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

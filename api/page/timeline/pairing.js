/** Two timelines on one axis: the lanes of each kind are next to each other. */

/** @typedef {import('./lane.js').Lane} Lane */

/**
 * Move a lane in time.
 * @param {Lane} lane
 * @param {number} by milliseconds
 * @returns {Lane}
 */
export function shifted(lane, by) {
  if (by === 0) return lane;
  const moved = (/** @type {any} */ span) =>
    ({ ...span, from: span.from + by, to: span.to + by });
  return {
    ...lane,
    spans: lane.spans.map(moved),
    unseen: lane.unseen.map(moved),
    marks: lane.marks.map((mark) => ({ ...mark, at: mark.at + by })),
  };
}

/**
 * Put the lanes of two together: what both have first, one under the other.
 * @param {Lane[]} left
 * @param {Lane[]} right
 * @param {{left: string, right: string, by: number}} names whose lanes they
 *   are; `by` is how far the right ones are moved, in milliseconds
 * @returns {Lane[]}
 */
export function paired(left, right, names) {
  const others = new Map(right.map((lane) => [lane.id, shifted(lane, names.by)]));
  const lanes = left.flatMap((lane) => {
    const other = others.get(lane.id);
    others.delete(lane.id);
    return [named(lane, 'a', names.left), ...(other
      ? [named(other, 'b', names.right)] : [])];
  });
  return [...lanes, ...[...others.values()].map(
    (lane) => named(lane, 'b', names.right))];
}

/** @param {Lane} lane @param {string} side @param {string} name */
const named = (lane, side, name) =>
  ({ ...lane, id: `${side} ${lane.id}`, title: `${name} ${lane.title}` });

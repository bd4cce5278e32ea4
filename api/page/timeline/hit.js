/** What is under the pointer. */

import { timeAt } from '../time/window.js';
import { firstAtOrAfter } from './lane.js';

/** As far as a hand may miss. */
const REACH_PIXELS = 7;

/**
 * Find what a lane has at a pixel: a step of a chain before any other mark, a
 * mark before a span, and what was not seen before what was.
 * @param {import('./lane.js').ReadyLane} ready
 * @param {{from: number, to: number}} window
 * @param {number} width
 * @param {number} x
 * @returns {{label: string, entry: string | null, at: number, more: number,
 *   step?: number} | null} `more` counts what is on the same pixel
 */
export function hitAt(ready, window, width, x) {
  const at = timeAt(window, width, x);
  const reach = (REACH_PIXELS / width) * (window.to - window.from);
  const marks = marksNear(ready, at, reach);
  if (marks.length > 0) {
    const [best] = marks;
    return { ...best, more: marks.length - 1 };
  }
  const unseen = ready.lane.unseen.find((one) => at >= one.from && at < one.to);
  if (unseen !== undefined) {
    return { label: unseen.label, entry: null, at, more: 0 };
  }
  const span = ready.lane.spans.findLast(
    (one) => at >= one.from - reach / 4 && at < one.to + reach / 4,
  );
  if (span === undefined) return null;
  return { label: span.label, entry: span.entry, at: span.from, more: 0 };
}

/**
 * @param {import('./lane.js').ReadyLane} ready
 * @param {number} at
 * @param {number} reach
 */
function marksNear({ lane, markAt }, at, reach) {
  const found = [];
  let place = firstAtOrAfter(markAt, at - reach);
  for (; place < markAt.length && markAt[place] <= at + reach; place += 1) {
    found.push(lane.marks[place]);
  }
  const rank = (/** @type {import('./lane.js').Mark} */ mark) =>
    Math.abs(mark.at - at) - (mark.step === undefined ? 0 : 2 * reach);
  return found.sort((one, other) => rank(one) - rank(other));
}

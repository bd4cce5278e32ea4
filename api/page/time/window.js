/** The window that is shown: how it is moved, stretched and bounded. */

/** @typedef {{from: number, to: number}} Window */

/** Less than this and the axis would count microseconds. */
export const LENGTH_MIN = 20;
/** Ten years: beyond it nothing is recorded. */
const LENGTH_MAX = 10 * 366 * 86_400_000;

const MARGIN = 0.06;
const LEAST_FITTED = 2000;

/**
 * The pixel of a time in a window.
 * @param {Window} window
 * @param {number} width
 * @param {number} at
 * @returns {number}
 */
export function pixelOf(window, width, at) {
  return ((at - window.from) / (window.to - window.from)) * width;
}

/**
 * The time at a pixel.
 * @param {Window} window
 * @param {number} width
 * @param {number} x
 * @returns {number}
 */
export function timeAt(window, width, x) {
  return window.from + (x / Math.max(width, 1)) * (window.to - window.from);
}

/**
 * Move by a share of the window's own length.
 * @param {Window} window
 * @param {number} share
 * @returns {Window}
 */
export function panned(window, share) {
  const by = (window.to - window.from) * share;
  return { from: window.from + by, to: window.to + by };
}

/**
 * Stretch about a time that stays where it is.
 * @param {Window} window
 * @param {number} factor below 1 comes closer
 * @param {number} about
 * @returns {Window}
 */
export function zoomed(window, factor, about) {
  const length = window.to - window.from;
  const wanted = Math.min(Math.max(length * factor, LENGTH_MIN), LENGTH_MAX);
  const share = (about - window.from) / length;
  const from = about - wanted * share;
  return { from, to: from + wanted };
}

/**
 * Show all of these times, with a little room on both sides.
 * @param {number[]} times
 * @returns {Window | null} null where there is nothing to show
 */
export function fitted(times) {
  if (times.length === 0) return null;
  let from = Infinity;
  let to = -Infinity;
  for (const at of times) {
    if (at < from) from = at;
    if (at > to) to = at;
  }
  const room = Math.max((to - from) * MARGIN, LEAST_FITTED / 2);
  return { from: from - room, to: to + room };
}

/**
 * The same length about another time.
 * @param {Window} window
 * @param {number} at
 * @returns {Window}
 */
export function centred(window, at) {
  const half = (window.to - window.from) / 2;
  return { from: at - half, to: at + half };
}

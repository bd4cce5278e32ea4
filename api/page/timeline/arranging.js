/** Which lanes are shown, and in which order. */

import { speaksIn } from './lane.js';

/** @typedef {import('./lane.js').ReadyLane} ReadyLane */

/**
 * Arrange lanes: the pinned ones on top, the others as a person ordered them;
 * those that have nothing to say in the window fold by themselves.
 * @param {ReadyLane[]} lanes
 * @param {{folded: string[], opened: string[], pinned: string[],
 *   order: string[]}} chosen
 * @param {{from: number, to: number}} window
 * @returns {{shown: ReadyLane[], folded: ReadyLane[]}}
 */
export function arranged(lanes, chosen, window) {
  const { folded, opened, pinned, order } = chosen;
  const shown = [];
  const hidden = [];
  for (const ready of lanes) {
    const { id } = ready.lane;
    const isQuiet = !pinned.includes(id) && isSilent(ready, window);
    const isFolded = folded.includes(id) || (isQuiet && !opened.includes(id));
    (isFolded ? hidden : shown).push(ready);
  }
  const placeOf = (/** @type {ReadyLane} */ { lane }) => {
    const place = order.indexOf(lane.id);
    return place < 0 ? order.length : place;
  };
  const isPinned = (/** @type {ReadyLane} */ { lane }) =>
    pinned.includes(lane.id);
  shown.sort(
    (one, other) =>
      Number(isPinned(other)) - Number(isPinned(one)) ||
      placeOf(one) - placeOf(other),
  );
  return { shown, folded: hidden };
}

/**
 * A harmless state without a change is folded too: MemoryPressure=False over
 * the whole window.
 * @param {ReadyLane} ready
 * @param {{from: number, to: number}} window
 */
function isSilent(ready, window) {
  if (ready.lane.group === 'recorder' || ready.lane.group === 'node') {
    return false;
  }
  const isLoud = ready.lane.spans.some(
    (one) =>
      one.tone !== 'plain' && one.from < window.to && one.to > window.from,
  );
  if (isLoud) return false;
  return !speaksIn({ ...ready, lane: { ...ready.lane, spans: [] } }, window);
}

/**
 * Move a lane by one place among those that are shown.
 * @param {ReadyLane[]} shown
 * @param {string} id
 * @param {number} by -1 is up
 * @returns {string[]} the order to keep
 */
export function moved(shown, id, by) {
  const ids = shown.map(({ lane }) => lane.id);
  const from = ids.indexOf(id);
  const to = Math.min(Math.max(from + by, 0), ids.length - 1);
  ids.splice(from, 1);
  ids.splice(to, 0, id);
  return ids;
}

/**
 * Level of detail: what shares a pixel is drawn once, as the loudest of it.
 *
 * The arrays are made once and filled anew for every lane of every frame,
 * because sixty times a second even small rubbish has to be collected.
 */

import { firstAtOrAfter } from './lane.js';

/** Two marks closer than this many pixels are one. */
const MARK_PIXELS = 2;

/**
 * @typedef {{count: number, x: Int32Array, end: Int32Array, tone: Uint8Array,
 *   size: Int32Array, first: Int32Array}} Merged
 */

/**
 * Make room for what one lane can show.
 * @param {number} width pixels
 * @returns {Merged}
 */
export function room(width) {
  const length = Math.ceil(width) + 4;
  return {
    count: 0,
    x: new Int32Array(length),
    end: new Int32Array(length),
    tone: new Uint8Array(length),
    size: new Int32Array(length),
    first: new Int32Array(length),
  };
}

/**
 * Merge the marks of a lane that would overlap on the screen.
 * @param {import('./lane.js').ReadyLane} ready
 * @param {{from: number, to: number}} window
 * @param {number} width pixels
 * @param {Merged} into
 */
export function mergeMarks(ready, window, width, into) {
  const { markAt, markTone } = ready;
  const scale = width / (window.to - window.from);
  const end = markAt.length;
  let place = firstAtOrAfter(markAt, window.from);
  let count = 0;
  for (; place < end && markAt[place] <= window.to; place += 1) {
    const x = Math.round((markAt[place] - window.from) * scale);
    const last = count - 1;
    if (last >= 0 && x - into.x[last] < MARK_PIXELS) {
      into.size[last] += 1;
      if (markTone[place] > into.tone[last]) {
        into.tone[last] = markTone[place];
        into.first[last] = place;
      }
      continue;
    }
    into.x[count] = x;
    into.tone[count] = markTone[place];
    into.size[count] = 1;
    into.first[count] = place;
    count += 1;
  }
  into.count = count;
}

/**
 * Merge the spans of a lane: those under a pixel become one of a pixel.
 * @param {import('./lane.js').ReadyLane} ready
 * @param {{from: number, to: number}} window
 * @param {number} width pixels
 * @param {Merged} into
 */
export function mergeSpans(ready, window, width, into) {
  const { spanFrom, spanTo, spanTone } = ready;
  const scale = width / (window.to - window.from);
  let count = 0;
  for (let place = 0; place < spanFrom.length; place += 1) {
    if (spanFrom[place] >= window.to) break;
    if (spanTo[place] <= window.from) continue;
    const from = Math.max(spanFrom[place], window.from);
    const to = Math.min(spanTo[place], window.to);
    const x = Math.round((from - window.from) * scale);
    const end = Math.max(Math.round((to - window.from) * scale), x + 1);
    const last = count - 1;
    if (last >= 0 && end <= into.end[last] && end - x <= 1) {
      into.size[last] += 1;
      if (spanTone[place] > into.tone[last]) into.tone[last] = spanTone[place];
      continue;
    }
    if (count === into.x.length) break;
    into.x[count] = x;
    into.end[count] = end;
    into.tone[count] = spanTone[place];
    into.size[count] = 1;
    into.first[count] = place;
    count += 1;
  }
  into.count = count;
}

/** Two numbers closer than this many pixels could not be read. */
const STEP_PIXELS = 17;
const DIGIT_PIXELS = 7;

/**
 * Put numbers together that would hide each other.
 * @param {{x: number, step: number}[]} steps in order of their place
 * @returns {{x: number, end: number, text: string}[]}
 */
export function stepsTogether(steps) {
  /** @type {{x: number, end: number, steps: number[]}[]} */
  const groups = [];
  for (const { x, step } of steps) {
    const last = groups.at(-1);
    if (last !== undefined && x - last.end < STEP_PIXELS) {
      last.end = Math.max(last.end, x);
      last.steps.push(step);
    } else groups.push({ x, end: x, steps: [step] });
  }
  return groups.map(({ x, end, steps: several }) => {
    const text = [...new Set(several)].sort((a, b) => a - b).join(' ');
    const needed = Math.max(text.length - 2, 0) * DIGIT_PIXELS;
    const more = Math.max(needed - (end - x), 0) / 2;
    return { x: x - more, end: end + more, text };
  });
}

/**
 * Return the part of a span in which no number hides the text.
 * @param {{x: number, end: number}[]} numbers in order of their place
 * @param {{x: number, end: number}} span
 * @param {number} beside kept free of text, beside numbers and edges
 */
export function roomBeside(numbers, span, beside) {
  const room = { x: span.x + beside, end: span.end - beside };
  for (const { x, end } of numbers) {
    if (end + beside <= room.x || x - beside >= room.end) continue;
    if (x - room.x < 2 * STEP_PIXELS) room.x = end + beside;
    else room.end = x - beside;
  }
  return room;
}

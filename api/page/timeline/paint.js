/**
 * Draws lanes. It knows pixels and tones, and nothing of what they mean.
 *
 * One pass over the lanes that are seen, one merge per lane; quiet things are
 * thin and loud ones tall, so that the shape of a state differs as well.
 */

import { pixelOf } from '../time/window.js';
import {
  mergeMarks, mergeSpans, roomBeside, stepsTogether,
} from './detail.js';
import { TONES } from './lane.js';

/** Height of a lane, in pixels: the style sheet has the same. */
export const LANE_PIXELS = 28;

const QUIET = new Set([TONES.indexOf('plain'), TONES.indexOf('absent')]);
const SERVICE = TONES.indexOf('service');
const HEIGHTS = TONES.map((_, tone) => {
  if (QUIET.has(tone)) return 2;
  return tone === SERVICE ? 8 : 16;
});
const LABEL_ROOM = 48;
const LABEL_INSET = 12;
const SPARSE = 9;
const STEP_RADIUS = 8;
const DASHES = [3, 5];

/**
 * @typedef {{context: CanvasRenderingContext2D,
 *   palette: import('./palette.js').Palette, hatch: CanvasPattern | null,
 *   window: {from: number, to: number}, width: number, height: number,
 *   scroll: number, lit: string | null, merged: import('./detail.js').Merged,
 *   widths: Map<string, number>}} Picture
 *   `lit` is the entry that is pointed at somewhere on the page
 */

/**
 * Draw what is seen of the lanes.
 * @param {Picture} picture
 * @param {import('./lane.js').ReadyLane[]} lanes
 * @param {{at: number}[]} ticks
 */
export function paint(picture, lanes, ticks) {
  const { context, palette, width, height, scroll } = picture;
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, width, height);
  paintTicks(picture, ticks);
  const first = Math.max(0, Math.floor(scroll / LANE_PIXELS));
  const last = Math.min(
    lanes.length,
    Math.ceil((scroll + height) / LANE_PIXELS),
  );
  for (let place = first; place < last; place += 1) {
    const top = place * LANE_PIXELS - scroll;
    const numbers = numbersOf(picture, lanes[place]);
    paintSpans(picture, lanes[place], top, numbers);
    paintUnseen(picture, lanes[place], top);
    paintMarks(picture, lanes[place], top);
    paintSteps(picture, lanes[place], top, numbers);
  }
}

/** @param {Picture} picture @param {{at: number}[]} ticks */
function paintTicks(picture, ticks) {
  const { context, palette, window, width, height } = picture;
  context.fillStyle = palette.line;
  for (const { at } of ticks) {
    context.fillRect(Math.round(pixelOf(window, width, at)), 0, 1, height);
  }
}

/**
 * @param {Picture} picture
 * @param {import('./lane.js').ReadyLane} ready
 * @param {number} top
 * @param {{x: number, end: number}[]} numbers
 */
function paintSpans(picture, ready, top, numbers) {
  const { context, palette, merged } = picture;
  mergeSpans(ready, picture.window, picture.width, merged);
  for (let place = 0; place < merged.count; place += 1) {
    const tone = merged.tone[place];
    const high = HEIGHTS[tone];
    const x = merged.x[place];
    const wide = merged.end[place] - x;
    const y = top + (LANE_PIXELS - high) / 2;
    context.fillStyle = palette.tones[tone];
    if (wide > 6 && high > 4) roundedBar(context, x, y, wide, high);
    else context.fillRect(x, y, wide, high);
    if (wide > LABEL_ROOM && high === 16) {
      const span = ready.lane.spans[merged.first[place]];
      context.fillStyle = palette.onTones[tone];
      const room = roomBeside(numbers, { x, end: x + wide }, LABEL_INSET);
      paintLabel(picture, span.label, room, top);
    }
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} wide
 * @param {number} high
 */
function roundedBar(context, x, y, wide, high) {
  context.beginPath();
  context.roundRect(x, y, wide - 1, high, 3);
  context.fill();
}

/**
 * @param {Picture} picture
 * @param {string} label
 * @param {{x: number, end: number}} room
 * @param {number} top
 */
function paintLabel(picture, label, room, top) {
  const { context } = picture;
  const shown = shortened(picture, label, room.end - room.x);
  if (shown === '') return;
  context.fillText(shown, room.x, top + LANE_PIXELS / 2 + 0.5);
}

/** @param {Picture} picture @param {string} label @param {number} wide */
function shortened(picture, label, wide) {
  const { context, widths } = picture;
  let measured = widths.get(label);
  if (measured === undefined) {
    measured = context.measureText(label).width;
    widths.set(label, measured);
  }
  if (measured <= wide) return label;
  const kept = Math.floor((wide / measured) * label.length) - 1;
  return kept < 3 ? '' : `${label.slice(0, kept)}…`;
}

/**
 * @param {Picture} picture
 * @param {import('./lane.js').ReadyLane} ready
 * @param {number} top
 */
function paintMarks(picture, ready, top) {
  const { context, palette, merged } = picture;
  mergeMarks(ready, picture.window, picture.width, merged);
  const middle = top + LANE_PIXELS / 2;
  let tone = -1;
  for (let place = 0; place < merged.count; place += 1) {
    if (merged.tone[place] !== tone) {
      tone = merged.tone[place];
      context.fillStyle = palette.tones[tone];
    }
    const x = merged.x[place];
    if (isSparse(merged, place)) {
      diamond(context, x, middle, merged.size[place] > 1 ? 6 : 4.5);
      continue;
    }
    const half = Math.min(4 + merged.size[place], 10);
    context.fillRect(x - 1, middle - half, 2, 2 * half);
  }
}

/** @param {import('./detail.js').Merged} merged @param {number} place */
function isSparse(merged, place) {
  const before = place === 0 ? -SPARSE : merged.x[place - 1];
  const after =
    place + 1 === merged.count ? Infinity : merged.x[place + 1];
  return merged.x[place] - before >= SPARSE && after - merged.x[place] >= SPARSE;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} half
 */
function diamond(context, x, y, half) {
  context.beginPath();
  context.moveTo(x, y - half);
  context.lineTo(x + half, y);
  context.lineTo(x, y + half);
  context.lineTo(x - half, y);
  context.fill();
}

/**
 * @param {Picture} picture
 * @param {import('./lane.js').ReadyLane} ready
 * @param {number} top
 */
function paintUnseen(picture, ready, top) {
  const { context, window, width, hatch } = picture;
  if (hatch === null) return;
  for (const { from, to } of ready.lane.unseen) {
    if (from >= window.to || to <= window.from) continue;
    const x = Math.max(pixelOf(window, width, from), 0);
    const end = Math.min(pixelOf(window, width, to), width);
    context.fillStyle = hatch;
    context.fillRect(x, top + 1, Math.max(end - x, 2), LANE_PIXELS - 2);
    if (ready.lane.group !== 'recorder') paintAssumed(picture, top, { x, end });
  }
}

/**
 * What was the case before, of the spans that were merged last: a dashed hair,
 * because it was not observed until the end.
 * @param {Picture} picture
 * @param {number} top
 * @param {{x: number, end: number}} unseen
 */
function paintAssumed({ context, palette, merged }, top, unseen) {
  const y = top + LANE_PIXELS / 2;
  context.setLineDash(DASHES);
  context.lineWidth = 1;
  for (let place = 0; place < merged.count; place += 1) {
    const x = Math.max(merged.x[place], unseen.x);
    const end = Math.min(merged.end[place], unseen.end);
    if (end <= x) continue;
    context.strokeStyle = palette.tones[merged.tone[place]];
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(end, y);
    context.stroke();
  }
  context.setLineDash([]);
}

/** @param {Picture} picture @param {{at: number}} mark */
const isSeen = ({ window }, { at }) => at >= window.from && at <= window.to;

/** @param {Picture} picture @param {import('./lane.js').ReadyLane} ready */
function numbersOf(picture, { steps }) {
  const seen = steps.filter((mark) => isSeen(picture, mark));
  return stepsTogether(seen.map((mark) => ({
    x: pixelOf(picture.window, picture.width, mark.at), step: mark.step ?? 0,
  })));
}

/**
 * @param {Picture} picture
 * @param {import('./lane.js').ReadyLane} ready
 * @param {number} top
 * @param {{x: number, end: number, text: string}[]} numbers
 */
function paintSteps(picture, ready, top, numbers) {
  const { context, palette, window, width, lit } = picture;
  const y = top + LANE_PIXELS / 2;
  for (const { x, end, text } of numbers) {
    pill(context, palette, { x, end, y, text });
  }
  if (lit === null) return;
  for (const mark of ready.lane.marks) {
    if (mark.entry !== lit || !isSeen(picture, mark)) continue;
    ring(context, palette, pixelOf(window, width, mark.at), y);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import('./palette.js').Palette} palette
 * @param {{x: number, end: number, y: number, text: string}} drawn
 */
function pill(context, palette, { x, end, y, text }) {
  const wide = end - x + 2 * STEP_RADIUS;
  context.fillStyle = palette.ink;
  context.beginPath();
  context.roundRect(
    x - STEP_RADIUS, y - STEP_RADIUS, wide, 2 * STEP_RADIUS, STEP_RADIUS);
  context.fill();
  context.fillStyle = palette.ground;
  context.textAlign = 'center';
  context.fillText(text, (x + end) / 2, y + 0.5);
  context.textAlign = 'left';
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import('./palette.js').Palette} palette
 * @param {number} x
 * @param {number} y
 */
function ring(context, palette, x, y) {
  context.strokeStyle = palette.focus;
  context.lineWidth = 3;
  context.beginPath();
  context.arc(x, y, STEP_RADIUS + 3, 0, 2 * Math.PI);
  context.stroke();
}

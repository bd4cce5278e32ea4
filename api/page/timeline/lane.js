/**
 * A lane: what was the case over time, and what happened at moments.
 *
 * @typedef {'service' | 'degraded' | 'cordoned' | 'notready' | 'unknown'
 *   | 'absent' | 'plain' | 'calm' | 'strong'} Tone what a colour says, never the colour
 * @typedef {{from: number, to: number, tone: Tone, label: string,
 *   entry: string | null}} Span `to` is Infinity while it lasts
 * @typedef {{at: number, tone: Tone, label: string, entry: string | null,
 *   step?: number}} Mark `step` is its number in the chain of a verdict
 * @typedef {{from: number, to: number, label: string}} Unseen
 * @typedef {{id: string, title: string, group: string, spans: Span[],
 *   marks: Mark[], unseen: Unseen[]}} Lane
 */

/** From quiet to loud: where several share a pixel the loudest is seen. */
export const TONES = /** @type {const} */ ([
  'plain', 'service', 'absent', 'calm', 'strong', 'cordoned', 'degraded', 'unknown',
  'notready',
]);

/** @type {Map<Tone, number>} */
const LOUDNESS = new Map(TONES.map((tone, place) => [tone, place]));

/**
 * How loud a tone is: its place in `TONES`.
 * @param {Tone} tone
 * @returns {number}
 */
export function loudness(tone) {
  return LOUDNESS.get(tone) ?? 0;
}

/**
 * A lane in order and in arrays, so that drawing finds its window quickly.
 * @typedef {{lane: Lane, steps: Mark[], markAt: Float64Array,
 *   markTone: Uint8Array, spanFrom: Float64Array, spanTo: Float64Array,
 *   spanTone: Uint8Array}} ReadyLane
 */

/**
 * Put a lane in order. It is done once, when its facts arrive.
 * @param {Lane} lane
 * @returns {ReadyLane}
 */
export function readied(lane) {
  const marks = [...lane.marks].sort((one, other) => one.at - other.at);
  const spans = [...lane.spans].sort((one, other) => one.from - other.from);
  return {
    lane: { ...lane, marks, spans },
    steps: marks.filter((mark) => mark.step !== undefined),
    markAt: Float64Array.from(marks, (mark) => mark.at),
    markTone: Uint8Array.from(marks, (mark) => loudness(mark.tone)),
    spanFrom: Float64Array.from(spans, (one) => one.from),
    spanTo: Float64Array.from(spans, (one) => one.to),
    spanTone: Uint8Array.from(spans, (one) => loudness(one.tone)),
  };
}

/**
 * Whether a lane has anything to show in a window: one that has not is folded.
 * @param {ReadyLane} ready
 * @param {{from: number, to: number}} window
 * @returns {boolean}
 */
export function speaksIn(ready, window) {
  const first = firstAtOrAfter(ready.markAt, window.from);
  if (first < ready.markAt.length && ready.markAt[first] <= window.to) {
    return true;
  }
  const { spans } = ready.lane;
  return spans.some((span) => span.from < window.to && span.to > window.from);
}

/**
 * Find the first place in a sorted array that is not below a value.
 * @param {Float64Array} sorted
 * @param {number} value
 * @returns {number}
 */
export function firstAtOrAfter(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Draws a generated timeline and moves it, a hand's step in each frame. */

import { html, render } from '/api/page/html.js';
import { readied } from '/api/page/timeline/lane.js';
import { Timeline } from '/api/page/timeline/timeline.js';

const LANES = 200;
const MARKS = 150;
const SPANS = 12;
const DAY = 86_400_000;
const BEGAN = Date.UTC(2026, 10, 21);
const TONES = ['strong', 'degraded', 'notready', 'service', 'cordoned', 'unknown'];

/** Numbers that are the same in every run. */
function numbers() {
  let state = 20261121;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x80000000;
  };
}

function generated() {
  const next = numbers();
  return Array.from({ length: LANES }, (_, lane) => {
    const cuts = Array.from({ length: SPANS }, () => next()).sort();
    return readied({
      id: `lane ${lane}`,
      title: `node-${lane}`,
      group: 'node',
      marks: Array.from({ length: MARKS }, (_, mark) => ({
        at: BEGAN + next() * DAY,
        tone: TONES[Math.floor(next() * 3)],
        label: `mark ${mark}`,
        entry: `1/${lane * MARKS + mark}`,
      })),
      spans: cuts.map((cut, place) => ({
        from: BEGAN + cut * DAY,
        to: BEGAN + (cuts[place + 1] ?? 1) * DAY,
        tone: TONES[Math.floor(next() * TONES.length)],
        label: `span ${place}`,
        entry: null,
      })),
      unseen: lane % 7 === 0
        ? [{ from: BEGAN + 0.4 * DAY, to: BEGAN + 0.42 * DAY, label: 'not seen' }]
        : [],
    });
  });
}

const nothing = () => {};
const given = {
  lanes: generated(), folded: [], pinned: [], zone: 'utc', chosen: null,
  isOld: false, window: { from: BEGAN, to: BEGAN + DAY },
  onWindow: nothing, onOpen: nothing, onLane: nothing,
};
render(html`<${Timeline} ...${given} />`, document.getElementById('page'));

const frame = () => new Promise(requestAnimationFrame);

/** A turn of the wheel: closer for a while, then away, moving sideways too. */
function turn(canvas, number) {
  const isPan = number % 3 === 2;
  const isCloser = Math.floor(number / 60) % 2 === 0;
  canvas.dispatchEvent(new WheelEvent('wheel', {
    bubbles: true,
    cancelable: true,
    clientX: 700,
    ctrlKey: !isPan,
    deltaX: isPan ? 60 : 0,
    deltaY: isPan ? 0 : (isCloser ? -30 : 30),
  }));
}

/** Move for so many frames; give how long each took, in milliseconds. */
globalThis.moved = async (frames) => {
  const canvas = document.querySelector('.box canvas');
  const lengths = [];
  await frame();
  let before = await frame();
  for (let number = 0; number < frames; number += 1) {
    turn(canvas, number);
    const now = await frame();
    lengths.push(now - before);
    before = now;
  }
  return lengths;
};

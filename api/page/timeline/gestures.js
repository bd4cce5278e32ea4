/**
 * What hands do on a timeline: drag to move, turn the wheel with Ctrl to come
 * closer, click to open. The wheel alone scrolls the page, as everywhere.
 */

import { panned, timeAt, zoomed } from '../time/window.js';

const CLICK_PIXELS = 4;
const WHEEL_SPEED = 0.0022;
const LINE_PIXELS = 16;

/**
 * @typedef {{window: () => {from: number, to: number},
 *   width: () => number,
 *   move: (window: {from: number, to: number}) => void,
 *   settle: () => void,
 *   point: (x: number | null, y: number) => void,
 *   click: (x: number, y: number) => void}} Hands
 */

/**
 * Listen to an element.
 * @param {HTMLElement} element
 * @param {Hands} hands
 * @returns {() => void} stops listening
 */
export function watchHands(element, hands) {
  const stop = new AbortController();
  const { signal } = stop;
  /** @type {{x: number, from: {from: number, to: number}, far: boolean}
   *   | null} */
  let drag = null;
  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    drag = { x: event.offsetX, from: hands.window(), far: false };
    element.setPointerCapture(event.pointerId);
  }, { signal });
  element.addEventListener('pointermove', (event) => {
    hands.point(event.offsetX, event.offsetY);
    if (drag === null) return;
    const by = event.offsetX - drag.x;
    if (!drag.far && Math.abs(by) < CLICK_PIXELS) return;
    drag.far = true;
    element.classList.add('dragging');
    hands.move(panned(drag.from, -by / hands.width()));
  }, { signal });
  element.addEventListener('pointerup', (event) => {
    if (drag?.far) hands.settle();
    else if (drag) hands.click(event.offsetX, event.offsetY);
    drag = null;
    element.classList.remove('dragging');
  }, { signal });
  element.addEventListener('pointercancel', () => {
    drag = null;
    element.classList.remove('dragging');
  }, { signal });
  element.addEventListener('pointerleave', () => hands.point(null, 0), {
    signal,
  });
  element.addEventListener('wheel', (event) => onWheel(event, hands), {
    signal,
    passive: false,
  });
  return () => stop.abort();
}

/** @param {WheelEvent} event @param {Hands} hands */
function onWheel(event, hands) {
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PIXELS : 1;
  const isZoom = event.ctrlKey || event.metaKey;
  const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
  const isPan = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (!isZoom && !isPan) return;
  event.preventDefault();
  const window = hands.window();
  if (isZoom) {
    const factor = Math.exp(event.deltaY * unit * WHEEL_SPEED);
    const about = timeAt(window, hands.width(), event.offsetX);
    hands.move(zoomed(window, factor, about));
  } else {
    hands.move(panned(window, (sideways * unit) / hands.width()));
  }
  hands.settle();
}

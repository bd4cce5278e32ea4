/**
 * A strip of counts over time, with gaps hatched: drag over it
 * to look closer. On a node it is the map of everything, with the window on it.
 */

import { Component, html } from '../html.js';
import { ticksOf } from '../time/axis.js';
import { clock, day, dayAndClock } from '../time/clock.js';
import { counted } from '../words/plain.js';

const DRAG_PIXELS = 4;
/** A bar of one incident among hundreds is still seen. */
const BAR_LEAST = 14;

/**
 * @typedef {{from: number, to: number}} Window
 * @typedef {{window: Window, bars: {from: number, to: number, count: number}[],
 *   unseen: {from: number, to: number, label: string}[],
 *   brush: Window | null, zone: 'utc' | 'local', noun: string, label: string,
 *   onRange: (window: Window) => void}} Given
 */

/** The component: it remembers only the drag that goes on. */
export class Strip extends Component {
  /** @param {Given} given */
  constructor(given) {
    super(given);
    /** @type {{from: number, to: number} | null} */
    this.drag = null;
  }

  /** @param {PointerEvent} event */
  timeOf(event) {
    const { window } = /** @type {any} */ (this.props);
    const box = /** @type {HTMLElement} */ (event.currentTarget)
      .getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    const kept = Math.min(Math.max(share, 0), 1);
    return window.from + kept * (window.to - window.from);
  }

  /** @param {PointerEvent} event */
  begin(event) {
    if (event.button !== 0) return;
    const target = /** @type {HTMLElement} */ (event.currentTarget);
    target.setPointerCapture(event.pointerId);
    const at = this.timeOf(event);
    this.drag = { from: at, to: at };
    this.x = event.clientX;
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (this.drag === null) return;
    this.drag = { ...this.drag, to: this.timeOf(event) };
    this.forceUpdate();
  }

  /** @param {PointerEvent} event */
  end(event) {
    const { drag } = this;
    this.drag = null;
    if (drag === null) return;
    const given = /** @type {any} */ (this.props);
    const isClick = Math.abs(event.clientX - (this.x ?? 0)) < DRAG_PIXELS;
    if (!isClick) given.onRange(ordered(drag));
    else if (given.brush) given.onRange(about(given.brush, drag.to));
    else {
      const bar = given.bars.find(
        (/** @type {Window} */ one) => drag.to >= one.from && drag.to < one.to,
      );
      if (bar) given.onRange({ from: bar.from, to: bar.to });
    }
    this.forceUpdate();
  }

  render() {
    const { window, bars, unseen, brush, zone, noun, label } =
      /** @type {Given} */ (/** @type {unknown} */ (this.props));
    const most = Math.max(...bars.map((bar) => bar.count), 1);
    const drag = this.drag && ordered(this.drag);
    return html`
      <div class="strip">
        <div class="field" role="img" aria-label=${label}
          onPointerDown=${(/** @type {PointerEvent} */ e) => this.begin(e)}
          onPointerMove=${(/** @type {PointerEvent} */ e) => this.move(e)}
          onPointerUp=${(/** @type {PointerEvent} */ e) => this.end(e)}>
          ${bars.map((bar) => html`
            <div key=${bar.from} class="bar"
              title="${counted(bar.count, noun)} from ${dayAndClock(bar.from, zone)}"
              style=${{
                ...placed(bar, window),
                height: `${BAR_LEAST + (100 - BAR_LEAST) * (bar.count / most)}%`,
              }}></div>
          `)}
          ${unseen.map((gap) => html`
            <div class="hatch" title=${gap.label}
              style=${placed(gap, window)}></div>
          `)}
          ${brush && html`<div class="brush" style=${placed(brush, window)}></div>`}
          ${drag && html`<div class="drag" style=${placed(drag, window)}></div>`}
        </div>
        <div class="scale" aria-hidden="true">
          ${scaleOf(window, zone)}
        </div>
      </div>
    `;
  }
}

/** @param {Window} window @param {'utc' | 'local'} zone */
function scaleOf(window, zone) {
  const length = window.to - window.from;
  const words = ticksOf(window, 900, zone).map(({ at, label }) => {
    const share = ((at - window.from) / length) * 100;
    if (share < 17 || share > 88) return null;
    return html`<span key=${at} style=${{ left: `${share}%` }}>${label}</span>`;
  });
  return html`
    <b>${day(window.from, zone)} ${clock(window.from, zone)}</b>
    ${words}
    <b>${clock(window.to, zone)}</b>
  `;
}

/** @param {Window} part @param {Window} whole */
function placed(part, whole) {
  const length = whole.to - whole.from;
  const left = Math.max((part.from - whole.from) / length, 0);
  const right = Math.min((part.to - whole.from) / length, 1);
  return {
    left: `${left * 100}%`,
    width: `${Math.max(right - left, 0) * 100}%`,
  };
}

/** @param {Window} window */
function ordered({ from, to }) {
  return { from: Math.min(from, to), to: Math.max(from, to) };
}

/** @param {Window} window @param {number} at */
function about(window, at) {
  const half = (window.to - window.from) / 2;
  return { from: at - half, to: at + half };
}

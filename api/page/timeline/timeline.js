/**
 * The timeline: lanes on one axis of time, with a line under the pointer.
 *
 * It draws on a canvas no taller than the screen, so that two hundred lanes
 * cost what thirty cost. What it shows is also in the list of facts below it,
 * for those who read instead of look.
 */

import { Component, html } from '../html.js';
import { light, onLight } from '../lighting.js';
import { difference, exactClock, zoneName } from '../time/clock.js';
import { pixelOf, timeAt } from '../time/window.js';
import { shown } from '../words/shown.js';
import { watchHands } from './gestures.js';
import { hitAt } from './hit.js';
import { LaneNames } from './names.js';
import { LANE_PIXELS } from './paint.js';
import { Surface } from './surface.js';

const SETTLE_WAIT = 180;
const TIP_PIXELS = 340;

/**
 * @typedef {{lanes: import('./lane.js').ReadyLane[],
 *   folded: import('./lane.js').ReadyLane[], pinned: string[],
 *   window: {from: number, to: number}, zone: 'utc' | 'local',
 *   chosen: string | null, isOld: boolean,
 *   onWindow: (window: {from: number, to: number}) => void,
 *   onOpen: (entry: string) => void,
 *   onLane: (does: 'fold' | 'open' | 'pin' | 'up' | 'down', id: string)
 *     => void}} Given
 */

/** The component; its window runs ahead of the page's while a hand moves. */
export class Timeline extends Component {
  /** @param {Given} given */
  constructor(given) {
    super(given);
    this.window = given.window;
    this.frame = 0;
    this.timer = 0;
    this.isMoving = false;
    /** @type {number | null} */
    this.pinned = null;
    /** @type {string | null} */
    this.lit = null;
    this.find = (/** @type {string} */ name) => (
      /** @type {HTMLElement | null} */ element) => {
      /** @type {any} */ (this)[name] = element;
    };
    this.refs = Object.fromEntries(
      ['axis', 'canvas', 'box', 'line', 'pin', 'tip', 'now'].map((name) => [
        name, this.find(`${name}Element`),
      ]),
    );
  }

  componentDidMount() {
    const self = /** @type {any} */ (this);
    this.surface = new Surface(self.canvasElement);
    this.axis = new Surface(self.axisElement);
    this.stopHands = watchHands(self.canvasElement, {
      window: () => this.window,
      width: () => this.surface?.width ?? 1,
      move: (window) => this.move(window),
      settle: () => this.settle(),
      point: (x, y) => this.point(x, y),
      click: (x, y) => this.click(x, y),
    });
    this.stop = new AbortController();
    const { signal } = this.stop;
    addEventListener('scroll', () => this.draw(), { signal, passive: true });
    onLight((entry) => {
      this.lit = entry;
      this.draw();
    }, signal);
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(self.boxElement);
    this.sizes.observe(document.documentElement);
    this.scheme = matchMedia('(prefers-color-scheme: dark)');
    this.scheme.addEventListener('change', () => this.recolour(), { signal });
    this.resize();
  }

  componentWillUnmount() {
    this.stopHands?.();
    this.stop?.abort();
    this.sizes?.disconnect();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
  }

  componentDidUpdate() {
    if (!this.isMoving) this.window = /** @type {any} */ (this.props).window;
    this.resize();
  }

  recolour() {
    this.surface?.recolour();
    this.axis?.recolour();
    this.draw();
  }

  /** Take the size that the page gives; the canvas is at most a screen tall. */
  resize() {
    const self = /** @type {any} */ (this);
    const total = self.props.lanes.length * LANE_PIXELS;
    const width = self.boxElement.clientWidth;
    self.boxElement.style.height = `${total}px`;
    this.surface?.resize(width, Math.min(total, innerHeight));
    this.axis?.resize(width, 26);
    this.draw();
  }

  /** Draw in the next frame, once however often it is asked for. */
  draw() {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.drawNow();
    });
  }

  drawNow() {
    const { lanes, zone, chosen } = /** @type {Given} */ (
      /** @type {unknown} */ (this.props)
    );
    const { window, scroll } = this;
    const lit = this.lit ?? chosen;
    this.surface?.drawLanes(lanes, { window, zone, scroll, lit });
    this.axis?.drawAxis(window, zone);
    this.placePin();
  }

  /** How much of the lanes has gone up behind the head of the page. */
  get scroll() {
    return /** @type {any} */ (this).canvasElement.offsetTop;
  }

  /** @param {{from: number, to: number}} window */
  move(window) {
    this.isMoving = true;
    this.window = window;
    this.draw();
  }

  settle() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.isMoving = false;
      /** @type {any} */ (this.props).onWindow(this.window);
    }, SETTLE_WAIT);
  }

  /** @param {number} x @param {number} y */
  hit(x, y) {
    const { lanes } = /** @type {any} */ (this.props);
    const ready = lanes[Math.floor((y + this.scroll) / LANE_PIXELS)];
    if (ready === undefined) return null;
    const hit = hitAt(ready, this.window, this.surface?.width ?? 1, x);
    return hit && { ...hit, label: `${ready.lane.title}: ${hit.label}` };
  }

  /** @param {number | null} x @param {number} y */
  point(x, y) {
    const self = /** @type {any} */ (this);
    self.lineElement.hidden = self.tipElement.hidden = x === null;
    const hit = x === null ? null : this.hit(x, y);
    self.canvasElement.classList.toggle('over', Boolean(hit?.entry));
    light(hit?.entry ?? null);
    if (x !== null) this.describe(x, y, hit);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {ReturnType<typeof hitAt>} hit
   */
  describe(x, y, hit) {
    const self = /** @type {any} */ (this);
    const { zone } = self.props;
    const width = this.surface?.width ?? 1;
    const at = timeAt(this.window, width, x);
    const when = exactClock(hit?.step ? hit.at : at, zone);
    const since =
      this.pinned === null ? '' : `  ${difference(at - this.pinned)}`;
    const more = hit && hit.more > 0 ? `\n… and ${hit.more} more here` : '';
    const what = hit ? `\n${hit.label}${more}` : '';
    self.lineElement.style.left = `${x}px`;
    const tip = self.tipElement;
    tip.textContent = shown(`${when} ${zoneName(zone, at)}${since}${what}`);
    tip.style.top = `${y + this.scroll + 18}px`;
    const isRight = x + TIP_PIXELS > width;
    tip.style.left = isRight ? 'auto' : `${x + 12}px`;
    tip.style.right = isRight ? `${width - x + 12}px` : 'auto';
  }

  /** @param {number} x @param {number} y */
  click(x, y) {
    const hit = this.hit(x, y);
    if (hit?.entry) {
      /** @type {any} */ (this.props).onOpen(hit.entry);
      return;
    }
    this.pinned =
      this.pinned === null
        ? timeAt(this.window, this.surface?.width ?? 1, x)
        : null;
    this.placePin();
  }

  placePin() {
    const { pinElement } = /** @type {any} */ (this);
    const width = this.surface?.width ?? 1;
    const x =
      this.pinned === null ? -1 : pixelOf(this.window, width, this.pinned);
    pinElement.hidden = x < 0 || x > width;
    pinElement.style.left = `${x}px`;
  }

  render() {
    const { lanes, folded, pinned, zone, window, isOld, onLane } =
      /** @type {Given} */ (/** @type {unknown} */ (this.props));
    const { refs } = this;
    return html`
      <div class="timeline ${isOld ? 'old' : ''}">
        <div class="axis">
          <span class="zone">${zoneName(zone, window.from)}</span>
          <canvas ref=${refs.axis} aria-hidden="true"></canvas>
        </div>
        <div class="lanes">
          <${LaneNames} lanes=${lanes} pinned=${pinned} onLane=${onLane} />
          <div class="box" ref=${refs.box}>
            <canvas ref=${refs.canvas} role="img"
              aria-label="Timeline of ${lanes.length} lanes; the facts are listed
                below"></canvas>
            <div class="pointer" ref=${refs.line} hidden></div>
            <div class="pointer pinned" ref=${refs.pin} hidden></div>
            <div class="tip" ref=${refs.tip} hidden></div>
          </div>
        </div>
        <${Folded} lanes=${folded} onLane=${onLane} />
      </div>
    `;
  }
}

/**
 * The lanes that are put away, each a button that brings it back.
 * @param {{lanes: import('./lane.js').ReadyLane[],
 *   onLane: Given['onLane']}} given
 */
function Folded({ lanes, onLane }) {
  if (lanes.length === 0) return null;
  return html`
    <details class="folded">
      <summary>
        ${lanes.length} ${lanes.length === 1 ? 'lane' : 'lanes'} collapsed: no
        changes in this window
      </summary>
      ${lanes.map(
        ({ lane }) => html`
          <button key=${lane.id} onClick=${() => onLane('open', lane.id)}>
            ${lane.title}
          </button>
        `,
      )}
    </details>
  `;
}

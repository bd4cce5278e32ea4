/** A canvas that is sharp on every screen, and what is drawn on it. */

import { ticksOf } from '../time/axis.js';
import { pixelOf } from '../time/window.js';
import { room } from './detail.js';
import { paint } from './paint.js';
import { hatchOf, paletteOf } from './palette.js';

const WIDTHS_MAX = 4000;
const AXIS_PIXELS = 26;

/** One canvas with its size, colours and the room to merge in. */
export class Surface {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (
      canvas.getContext('2d', { alpha: false })
    );
    this.width = 0;
    this.height = 0;
    this.merged = room(1);
    /** @type {Map<string, number>} */
    this.widths = new Map();
    this.recolour();
  }

  /** Read the colours again: light and dark may have changed. */
  recolour() {
    this.palette = paletteOf(this.canvas);
    this.hatch = hatchOf(this.context, this.palette, this.scale);
  }

  /** Device pixels to one of ours. */
  get scale() {
    return Math.min(globalThis.devicePixelRatio || 1, 3);
  }

  /**
   * Give it a size, in pixels of the page.
   * @param {number} width
   * @param {number} height
   */
  resize(width, height) {
    const { canvas, scale } = this;
    const wide = Math.max(1, Math.round(width * scale));
    const high = Math.max(1, Math.round(height * scale));
    if (canvas.width !== wide || canvas.height !== high) {
      canvas.width = wide;
      canvas.height = high;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
      this.merged = room(width);
    }
    this.width = width;
    this.height = height;
  }

  /** Set what every drawing begins with. */
  #begin() {
    const { context, palette, scale } = this;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = `11px ${palette.font}`;
    context.textBaseline = 'middle';
    context.textAlign = 'left';
    if (this.widths.size > WIDTHS_MAX) this.widths.clear();
  }

  /**
   * Draw lanes.
   * @param {import('./lane.js').ReadyLane[]} lanes
   * @param {{window: {from: number, to: number}, zone: 'utc' | 'local',
   *   scroll: number, lit: string | null}} seen
   */
  drawLanes(lanes, { window, zone, scroll, lit }) {
    this.#begin();
    const { context, palette, hatch, width, height, merged, widths } = this;
    paint(
      {
        context, palette, hatch, window, width, height, scroll, lit, merged,
        widths,
      },
      lanes,
      ticksOf(window, width, zone),
    );
  }

  /**
   * Draw the axis above them.
   * @param {{from: number, to: number}} window
   * @param {'utc' | 'local'} zone
   */
  drawAxis(window, zone) {
    this.#begin();
    const { context, palette, width } = this;
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, width, AXIS_PIXELS);
    for (const { at, label, strong } of ticksOf(window, width, zone)) {
      const x = Math.round(pixelOf(window, width, at));
      context.fillStyle = palette.line;
      context.fillRect(x, AXIS_PIXELS - 6, 1, 6);
      context.fillStyle = strong ? palette.ink : palette.soft;
      context.fillText(label, x + 4, AXIS_PIXELS / 2);
    }
  }
}

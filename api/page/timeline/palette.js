/** Colours of the canvas, read from the style sheet so that they are one. */

import { TONES } from './lane.js';

/**
 * @typedef {{tones: string[], onTones: string[], ink: string, soft: string,
 *   line: string, ground: string, hatch: string, focus: string,
 *   font: string}} Palette tones in the order of `TONES`, and what can be
 *   read on each
 */

/**
 * Read the palette of a place in the page, which light or dark has decided.
 * @param {Element} element
 * @returns {Palette}
 */
export function paletteOf(element) {
  const style = getComputedStyle(element);
  const colour = (/** @type {string} */ name) =>
    style.getPropertyValue(`--${name}`).trim();
  const tones = TONES.map((tone) => colour(`tone-${tone}`));
  return {
    tones,
    onTones: tones.map(readableOn),
    ink: colour('ink'),
    soft: colour('soft'),
    line: colour('line'),
    ground: colour('ground'),
    hatch: colour('hatch'),
    focus: colour('focus'),
    font: style.fontFamily,
  };
}

/** Of a colour, between black and white: at this both are read as well. */
const MIDDLE = 0.18;
const SHARES = [0.2126, 0.7152, 0.0722];

/**
 * Black or white, whichever is read better on a colour.
 * @param {string} colour as `#d55e00`
 * @returns {string}
 */
export function readableOn(colour) {
  const light = SHARES.reduce((sum, share, place) => {
    const part = parseInt(colour.slice(1 + 2 * place, 3 + 2 * place), 16) / 255;
    const linear = part <= 0.04 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    return sum + share * linear;
  }, 0);
  return light > MIDDLE ? '#101215' : '#ffffff';
}

const TILE = 8;
/** @type {Map<string, HTMLCanvasElement>} */
const tiles = new Map();

/**
 * The hatch of what was not observed: not a colour, lines from edge to edge.
 * @param {CanvasRenderingContext2D} context
 * @param {Palette} palette
 * @param {number} scale device pixels to one of ours
 * @returns {CanvasPattern | null}
 */
export function hatchOf(context, palette, scale) {
  const key = `${palette.hatch} ${palette.ground} ${scale}`;
  let tile = tiles.get(key);
  if (tile === undefined) {
    tile = drawnTile(palette, Math.round(TILE * scale), scale);
    tiles.set(key, tile);
  }
  const pattern = context.createPattern(tile, 'repeat');
  pattern?.setTransform(new DOMMatrix().scale(1 / scale));
  return pattern;
}

/** @param {Palette} palette @param {number} size @param {number} scale */
function drawnTile(palette, size, scale) {
  const tile = document.createElement('canvas');
  tile.width = size;
  tile.height = size;
  const context = tile.getContext('2d');
  if (context === null) return tile;
  // Opaque: nothing is seen of what would lie under it.
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, size, size);
  context.strokeStyle = palette.hatch;
  context.lineWidth = 1.4 * scale;
  context.lineCap = 'square';
  context.beginPath();
  for (const shift of [-size, 0, size]) {
    context.moveTo(shift, size);
    context.lineTo(shift + size, 0);
  }
  context.stroke();
  return tile;
}

/**
 * The place: everything that a shared link has to restore.
 *
 * A place is read from an address and written to one, and is the only record
 * of what the user chose. What is not in the address is not kept.
 *
 * @typedef {'fleet' | 'jobs' | 'node' | 'object' | 'workload' | 'sources'
 *   | 'places' | 'compare'} View
 * @typedef {{view: View, name: string, kind: string, namespace: string,
 *   cluster: string, log: string, last: string,
 *   from: number | null, to: number | null, zone: 'utc' | 'local',
 *   entry: string, verdict: string, filter: string, folded: string[],
 *   opened: string[], pinned: string[], order: string[], left: string,
 *   right: string, group: string, sort: string, other: string, page: number,
 *   shift: number}} Place `page` is one of a fleet of many clusters; `other` is
 *   compared, as it was `shift` later, ms
 */

import { readInstant, writeShort } from '../time/instant.js';

/** @type {Place} */
const HOME = Object.freeze({
  view: 'fleet',
  name: '',
  kind: '',
  namespace: '',
  cluster: '',
  log: '',
  last: '',
  from: null,
  to: null,
  zone: 'utc',
  entry: '',
  verdict: '',
  filter: '',
  folded: [],
  opened: [],
  pinned: [],
  order: [],
  left: '',
  right: '',
  group: '',
  sort: '',
  other: '',
  page: 1,
  shift: 0,
});

/** Given on as they are. */
const TEXTS = /** @type {const} */ ([
  'cluster', 'log', 'last', 'entry', 'verdict', 'filter', 'left',
  'right', 'group', 'sort', 'other',
]);
const TIMES = /** @type {const} */ (['from', 'to']);
const LISTS = /** @type {const} */ (['folded', 'opened', 'pinned', 'order']);
const LIST_MAX = 200;

/**
 * Read an address. Invalid parts of its query are ignored; a path without a view
 * becomes the name of the fleet, which has none.
 * @param {string} address path and query
 * @returns {Place}
 */
export function readPlace(address) {
  const url = new URL(address, 'http://recorder.invalid');
  const place = { ...HOME, ...ofPath(url.pathname) };
  const given = url.searchParams;
  for (const name of TEXTS) place[name] = given.get(name) ?? '';
  for (const name of TIMES) place[name] = readInstant(given.get(name) ?? '');
  for (const name of LISTS) place[name] = readList(given.get(name));
  if (place.from !== null && place.to !== null && place.from >= place.to) {
    place.from = place.to = null;
  }
  place.zone = given.get('zone') === 'local' ? 'local' : 'utc';
  place.shift = readShift(given.get('shift'));
  place.page = Math.max(Math.trunc(Number(given.get('page'))) || 1, 1);
  return place;
}

/** @param {string | null} text seconds */
function readShift(text) {
  const seconds = Number(text ?? 0);
  return Number.isFinite(seconds) ? Math.round(seconds * 1000) : 0;
}

/** @param {string} path @returns {Partial<Place>} */
function ofPath(path) {
  const [view, ...names] = path.split('/').filter(Boolean).map(decoded);
  if (view === undefined) return {};
  if ((view === 'node' || view === 'compare') && names.length === 1) {
    return { view, name: names[0] };
  }
  if (view === 'sources' || view === 'jobs') return { view };
  if (view === 'places') {
    return names.length === 2 ? { view, kind: names[0], name: names[1] } : { view };
  }
  if (view === 'object' && names.length === 2) {
    return { view, kind: names[0], name: names[1] };
  }
  if ((view === 'object' || view === 'workload') && names.length === 3) {
    return { view, kind: names[0], namespace: names[1], name: names[2] };
  }
  return { name: decoded(path) };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {string | null} text */
function readList(text) {
  const found = (text ?? '').split(',').filter(Boolean).map(decoded);
  return found.slice(0, LIST_MAX);
}

/**
 * Write an address; defaults are left out.
 * @param {Place} place
 * @returns {string}
 */
export function writePlace(place) {
  const query = new URLSearchParams();
  for (const name of TEXTS) if (place[name]) query.set(name, place[name]);
  for (const name of TIMES) {
    const at = place[name];
    if (at !== null) query.set(name, writeShort(at));
  }
  if (place.zone === 'local') query.set('zone', 'local');
  if (place.shift !== 0) query.set('shift', String(place.shift / 1000));
  if (place.page > 1) query.set('page', String(place.page));
  for (const name of LISTS) {
    const text = place[name].map(encodeURIComponent).join(',');
    if (text) query.set(name, text);
  }
  // These may be in a query unescaped, so that a link is readable.
  const asked = query.toString().replace(/%(2F|3A|2C)/g, decodeURIComponent);
  return pathOf(place) + (asked ? `?${asked}` : '');
}

/** @param {Place} place */
function pathOf({ view, kind, namespace, name }) {
  if (view === 'fleet') return '/';
  const parts = [view, kind, namespace, name].filter(Boolean);
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

/**
 * The place that a link leads to: another view of the same log and zone, and
 * nothing of what was open on this one.
 * @param {Place} from
 * @param {Partial<Place>} to
 * @returns {Place}
 */
export function leadingTo(from, to) {
  const { cluster, log, zone } = from;
  return { ...HOME, cluster, log, zone, ...to };
}

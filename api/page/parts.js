/**
 * The parts of the page that are loaded on demand: each view, and what opens
 * beside or above one. A first visit loads the part that it shows.
 */

const PARTS = {
  fleet: () => import('./views/fleet.js'),
  jobs: () => import('./views/jobs.js'),
  node: () => import('./views/node.js'),
  workload: () => import('./views/workload.js'),
  compare: () => import('./views/compare.js'),
  object: () => import('./views/object.js'),
  places: () => import('./views/places.js'),
  sources: () => import('./views/sources.js'),
  evidence: () => import('./views/evidence.js'),
  handing: () => import('./views/handing.js'),
  metrics: () => import('./views/metrics.js'),
};

/** @typedef {keyof typeof PARTS} PartName */

/** Milliseconds, after which a part that failed is loaded again. */
const LOAD_AGAIN = 2000;
/** @type {Map<PartName, any>} */
const loaded = new Map();
/** @type {Set<PartName>} */
const loading = new Set();

/**
 * The exports of a part, or null until it is loaded.
 * @param {PartName} name
 * @returns {any}
 */
export const partOf = (name) => loaded.get(name) ?? null;

/** Whether a part is loading. */
export const isLoadingPart = () => loading.size > 0;

/**
 * Load a part, unless it is loaded or on its way.
 * @param {PartName} name
 * @param {() => void} changed called when it is loaded, or to be tried again
 */
export function loadPart(name, changed) {
  if (loaded.has(name) || loading.has(name)) return;
  loading.add(name);
  const over = () => {
    loading.delete(name);
    changed();
  };
  PARTS[name]().then((found) => {
    loaded.set(name, found);
    over();
  }, () => setTimeout(over, LOAD_AGAIN));
}

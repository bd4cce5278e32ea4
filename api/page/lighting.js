/**
 * What is pointed at lights up everywhere: in the chain, the list, the lanes.
 *
 * It bypasses rendering on purpose: moving over a list of five hundred facts
 * must not render the page for each.
 */

let current = /** @type {string | null} */ (null);

/**
 * Light an entry, or nothing.
 * @param {string | null} entry
 */
export function light(entry) {
  if (entry === current) return;
  current = entry;
  for (const element of document.querySelectorAll('[data-entries]')) {
    const { entries = '' } = /** @type {HTMLElement} */ (element).dataset;
    const isNamed = entry !== null && entries.split(' ').includes(entry);
    element.classList.toggle('lit', isNamed);
  }
  dispatchEvent(new CustomEvent('lit', { detail: entry }));
}

/**
 * Listen to what lights up.
 * @param {(entry: string | null) => void} hear
 * @param {AbortSignal} signal
 */
export function onLight(hear, signal) {
  addEventListener('lit', (event) => {
    hear(/** @type {CustomEvent} */ (event).detail);
  }, { signal });
}

/** The keyboard: what each key does, for handling and for the help. */

/**
 * @typedef {{keys: string[], does: string, action: string}} Binding
 * @type {Binding[]}
 */
export const BINDINGS = [
  { keys: ['/'], does: 'search for a node, job, object or entry', action: 'search' },
  { keys: ['j'], does: 'next incident, job or fact', action: 'next' },
  { keys: ['k'], does: 'previous incident, job or fact', action: 'previous' },
  { keys: ['Enter'], does: 'open the selection', action: 'open' },
  { keys: ['1', '–', '9'], does: 'open a step of the verdict', action: 'step' },
  { keys: ['n', 'p'], does: 'next and previous record of the verdict', action: 'record' },
  { keys: ['←', '→'], does: 'move the window', action: 'pan' },
  { keys: ['+', '-'], does: 'zoom in or out', action: 'zoom' },
  { keys: ['f'], does: 'fit the window to the incident', action: 'fit' },
  { keys: ['g'], does: 'go to a time', action: 'goto' },
  { keys: ['u'], does: 'switch between UTC and local time', action: 'zone' },
  { keys: ['c'], does: 'copy as Markdown', action: 'copy' },
  { keys: ['y'], does: 'copy as a link, command or query, and links', action: 'hand' },
  { keys: ['Esc'], does: 'close the open panel', action: 'close' },
  { keys: ['?'], does: 'show these keys', action: 'help' },
];

/** @type {Record<string, {action: string, by?: number}>} */
const ACTIONS = {
  '/': { action: 'search' },
  j: { action: 'next', by: 1 },
  k: { action: 'next', by: -1 },
  Enter: { action: 'open' },
  n: { action: 'record', by: 1 },
  p: { action: 'record', by: -1 },
  ArrowLeft: { action: 'pan', by: -1 },
  ArrowRight: { action: 'pan', by: 1 },
  '+': { action: 'zoom', by: 1 },
  '=': { action: 'zoom', by: 1 },
  '-': { action: 'zoom', by: -1 },
  f: { action: 'fit' },
  g: { action: 'goto' },
  u: { action: 'zone' },
  c: { action: 'copy' },
  y: { action: 'hand' },
  Escape: { action: 'close' },
  '?': { action: 'help' },
};

const WRITING = new Set(['INPUT', 'TEXTAREA', 'SELECT']);
/** Keys that belong to what has the focus, such as a link or a button. */
const OWN = new Set(['Enter']);
/** What has the focus where nothing else has: the page, or a view just opened. */
const GROUND = new Set(['BODY', 'MAIN']);

/**
 * The action of a key.
 * @param {{key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean}}
 *   pressed
 * @param {string} within the tag that has the focus
 * @returns {{action: string, by?: number} | null} null leaves the key to the
 *   browser
 */
export function actionOf(pressed, within) {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return null;
  const isWriting = WRITING.has(within);
  if (isWriting) return pressed.key === 'Escape' ? { action: 'close' } : null;
  if (OWN.has(pressed.key) && !GROUND.has(within)) return null;
  if (/^[1-9]$/.test(pressed.key)) {
    return { action: 'step', by: Number(pressed.key) };
  }
  return ACTIONS[pressed.key] ?? null;
}

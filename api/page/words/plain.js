/** Words of the schema as people and the command line write them. */

/**
 * A word as prose: `KUBELET_RESTART` is `kubelet restart`.
 * @param {string} name
 * @returns {string}
 */
export const prose = (name) => name.toLowerCase().replaceAll('_', ' ');

/**
 * A word as the contract has it: `HUNG_KERNEL` is `hung-kernel`.
 * @param {string} name
 * @returns {string}
 */
export const term = (name) => name.toLowerCase().replaceAll('_', '-');

/**
 * A count with its noun: `1 job`, `2 jobs`.
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 * @returns {string}
 */
export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/**
 * A number with as many places as it is worth.
 * @param {number} value
 * @returns {string}
 */
export function rounded(value) {
  if (value === 0 || value >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(2)));
}

/**
 * GPU-hours, as commands print them.
 * @param {number} value
 * @returns {string}
 */
export const gpuHours = (value) => value.toFixed(2);

/** @type {Record<string, string>} */
const HAPPENED = {
  REPLACED: 'was replaced by another machine',
  REJOINED: 'rejoined as a new Node',
  REMOVED: 'was removed',
  REBOOT: 'rebooted',
  UNREACHABLE: 'was unreachable',
  KUBELET_RESTART: 'restarted its kubelet',
  DRAINED: 'was drained',
  CORDONED: 'was cordoned',
  DEGRADED: 'degraded',
  JOINED: 'joined',
};

/**
 * What happened, as a verb for a sentence.
 * @param {string} happened
 * @returns {string}
 */
export const verb = (happened) => HAPPENED[happened] ?? prose(happened);

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB'];

/**
 * A size in words: `43 MB`.
 * @param {number} bytes
 * @returns {string}
 */
export function size(bytes) {
  let rest = bytes;
  let unit = 0;
  while (rest >= 1000 && unit < UNITS.length - 1) {
    rest /= 1000;
    unit += 1;
  }
  return `${rounded(rest)} ${UNITS[unit]}`;
}

/**
 * An object as kubectl writes it.
 * @param {{kind: string, namespace: string | null, name: string}} reference
 * @returns {string}
 */
export function objectName({ kind, namespace, name }) {
  return [kind.toLowerCase(), namespace, name].filter(Boolean).join('/');
}

/**
 * A value of a document, on one line.
 * @param {unknown} value
 * @returns {string}
 */
export function valueText(value) {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

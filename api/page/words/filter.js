/**
 * The filter of the fleet: what the recorder can select is requested from it,
 * the rest is searched for in its answers.
 */

const HAPPENED = [
  'replaced', 'rejoined', 'removed', 'reboot', 'unreachable',
  'kubelet-restart', 'drained', 'cordoned', 'degraded', 'joined',
];
const CONFIDENCE = ['proven', 'likely', 'possible', 'unknown'];
const CAUSES = [
  'kernel-panic', 'hung-kernel', 'gpu-fault', 'memory-fault', 'power-loss',
  'thermal-fault', 'link-fault', 'disk-fault', 'system-oom', 'container-oom',
  'kubelet-failure', 'runtime-failure', 'network-partition',
  'control-plane-outage', 'monitoring-failed', 'other-fault',
  'admin-request', 'auto-remediation', 'os-upgrade', 'driver-upgrade',
  'host-maintenance', 'scale-down', 'preemption', 'manual-drain',
  'node-deletion', 'unrecorded',
];

/** Where incidents have no such word. */
export const NONE = 'none';

/** What is chosen by a name, and the variable that selects it. */
const NAMED = /^(rack|namespace|controller):(.+)$/i;
/** The recorder's own words may be written with what they are words of. */
const PREFIX = /^(cause|happened|confidence):/i;

/** Words that a filter knows, for the list that completes them. */
export const FILTER_WORDS = [...CAUSES, ...HAPPENED, ...CONFIDENCE];

/**
 * Read a filter.
 * @param {string} text words of the contract, `node:NAME`, `job:NAME`, or any
 *   other words to look for
 * @returns {{variables: Record<string, unknown>, words: string[]}} `words` are
 *   looked for by the page; of what a variable lists any is enough
 */
export function readFilter(text) {
  /** @type {Record<string, (string | null)[]>} */
  const lists = { happened: [], causes: [], confidence: [], racks: [],
    namespaces: [], controllers: [] };
  /** @type {Record<string, unknown>} */
  const variables = {};
  const words = [];
  for (const word of text.trim().split(/\s+/).filter(Boolean)) {
    const low = word.toLowerCase().replace(PREFIX, '');
    const [, facet, value] = NAMED.exec(word) ?? [];
    const name = low.toUpperCase().replaceAll('-', '_');
    if (facet) {
      lists[`${facet.toLowerCase()}s`].push(value === NONE ? null : value);
    } else if (low.startsWith('node:')) variables.node = word.slice(5);
    else if (low.startsWith('job:')) variables.workload = word.slice(4);
    else if (CAUSES.includes(low)) lists.causes.push(name);
    else if (HAPPENED.includes(low)) lists.happened.push(name);
    else if (CONFIDENCE.includes(low)) lists.confidence.push(name);
    else words.push(low);
  }
  for (const [name, list] of Object.entries(lists)) {
    if (list.length > 0) variables[name] = list;
  }
  return { variables, words };
}

/**
 * Add a word to a filter, or take it away.
 * @param {string} text
 * @param {string} word
 * @returns {string}
 */
export function toggled(text, word) {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const others = words.filter((one) => one !== word);
  return (others.length < words.length ? others : [...words, word]).join(' ');
}

/** @param {string} text @param {string} word */
export const hasWord = (text, word) => text.trim().split(/\s+/).includes(word);

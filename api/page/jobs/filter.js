/**
 * The filter of the list of jobs: what the recorder can select is requested
 * from it, also parts of names; words of verdicts are searched for in its
 * answers.
 */

import { FILTER_WORDS, NONE } from '../words/filter.js';

const STATES = [
  'queued', 'pending', 'running', 'degraded', 'down', 'suspended', 'completed',
  'failed', 'deleted', 'unknown',
];
const ENDED_BY = [
  'node-failure', 'drain', 'preemption', 'eviction', 'container-oom',
  'container-exit', 'deadline', 'suspension', 'deletion', 'completion',
  'unrecorded',
];
/** Ended by anything but completion. */
const ANY = 'any';

/** What is chosen by a name, and the variable that selects it. */
const NAMED = /^(kind|namespace|node|rack|queue|priority|user):(.+)$/i;

/** Words that the filter knows, for the list that completes them. */
export const JOB_WORDS = [ANY, ...ENDED_BY, ...STATES];

/**
 * Read a filter.
 * @param {string} text words of the contract, `kind:NAME`, `namespace:NAME`,
 *   `node:NAME`, `rack:NAME`, `queue:NAME`, `priority:NAME`, `user:NAME`, words
 *   of verdicts, or parts of names
 * @returns {{variables: Record<string, unknown>, words: string[]}} `words` are
 *   looked for by the page; of what a variable lists any is enough
 */
export function readJobFilter(text) {
  /** @type {Record<string, (string | null)[]>} */
  const lists = { kinds: [], namespaces: [], states: [], endedBy: [], queues: [],
    priorities: [], users: [] };
  /** @type {Record<string, unknown>} */
  const variables = {};
  const words = [];
  const parts = [];
  for (const word of text.trim().split(/\s+/).filter(Boolean)) {
    const low = word.toLowerCase();
    const [, named, value] = NAMED.exec(word) ?? [];
    const name = named?.toLowerCase();
    if (name === 'node' || name === 'rack') variables[name] = value;
    else if (name === 'kind') lists.kinds.push(value.toLowerCase());
    else if (name === 'namespace') lists.namespaces.push(value);
    else if (name) {
      const list = name === 'priority' ? 'priorities' : `${name}s`;
      lists[list].push(value === NONE ? null : value);
    }
    else if (STATES.includes(low)) lists.states.push(low.toUpperCase());
    else if (low === ANY || ENDED_BY.includes(low)) lists.endedBy.push(low);
    else if (FILTER_WORDS.includes(low)) words.push(low);
    else parts.push(low);
  }
  for (const [name, list] of Object.entries(lists)) {
    if (list.length > 0) variables[name] = list;
  }
  if (parts.length > 0) variables.text = parts.join(' ');
  return { variables, words };
}

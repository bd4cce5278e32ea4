/** What a view is called elsewhere: as a command, as a query, as a link. */

import { writeShort } from '../time/instant.js';
import { readJobFilter } from '../jobs/filter.js';
import { readFilter } from './filter.js';
import { term } from './plain.js';

/** What a shell takes as it is. */
const PLAIN = /^[\w./:@%+=,-]+$/;

/** @param {string} word */
const quoted = (word) =>
  PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** @typedef {import('../route/place.js').Place} Place */

/**
 * The command that answers what a view shows.
 * @param {Place} place
 * @param {{log: string, verdict: any}} about the log that is looked at, and the
 *   verdict that is open
 * @returns {string}
 */
export function commandOf(place, { log, verdict }) {
  const words = ['recorder', ...(place.entry
    ? ['log', place.entry, '--raw'] : askedBy(place, verdict))];
  if (!place.entry) words.push('--log', log);
  return words.map(quoted).join(' ');
}

/** @param {Place} place @param {any} verdict @returns {string[]} */
function askedBy(place, verdict) {
  const { view, kind, namespace, name } = place;
  const object = [kind, namespace, name].filter(Boolean).join('/');
  const window = windowOf(place);
  if (view === 'node' && verdict) return ['why', `node/${name}`, '--at', verdict.at];
  if (view === 'node' || view === 'compare') {
    return ['why', `node/${name}`, ...window];
  }
  if (view === 'object') return ['history', object];
  if (view === 'workload') return ['why', object];
  if (view === 'sources') return ['status'];
  if (view === 'places' && name) return ['incidents', '--place', object, ...window];
  if (view === 'places') return ['get', 'places'];
  if (view === 'jobs') return ['jobs', ...window, ...jobFilterOf(place)];
  return ['incidents', ...window, ...filterOf(place)];
}

/** @param {Place} place @returns {string[]} */
function windowOf({ from, to, last }) {
  if (from !== null && to !== null) {
    return ['--since', writeShort(from), '--until', writeShort(to)];
  }
  return last && last !== 'all' ? ['--since', last] : [];
}

/** What the command can select of jobs too. @param {Place} place */
function jobFilterOf({ filter }) {
  const { variables } = readJobFilter(filter);
  const flags = { endedBy: 'ended-by', states: 'state', kinds: 'kind',
    namespaces: 'namespace', node: 'node', rack: 'rack', queues: 'queue',
    priorities: 'priority', users: 'user', text: 'text' };
  return Object.entries(flags).flatMap(([name, flag]) =>
    [/** @type {any} */ (variables)[name] ?? []].flat().flatMap(
      (/** @type {string | null} */ word) => word === null ? []
        : [`--${flag}`, name === 'states' ? term(word) : word]));
}

/** What the command can select too. @param {Place} place */
function filterOf({ filter }) {
  const { variables } = readFilter(filter);
  const flags = { causes: 'cause', happened: 'happened', confidence: 'confidence' };
  const words = Object.entries(flags).flatMap(([name, flag]) =>
    (/** @type {any} */ (variables)[name] ?? []).flatMap(
      (/** @type {string} */ word) => [`--${flag}`, term(word)]));
  for (const name of ['node', 'workload']) {
    const value = /** @type {any} */ (variables)[name];
    if (value) words.push(`--${name}`, value);
  }
  return words;
}

/**
 * The query that a view asks, as a document that can be sent: its variables
 * are below it, as comments.
 * @param {import('../ask/answers.js').Need[]} needs
 * @returns {string}
 */
export function queryOf(needs) {
  const own = needs.filter(({ slot, isAside }) =>
    !isAside && slot !== 'overview');
  const need = own.find(({ slot }) => slot === 'entry') ?? own[0];
  if (need === undefined) return '';
  const variables = JSON.stringify(need.variables, null, 2)
    .split('\n').map((line) => `# ${line}`).join('\n');
  return `${need.query}\n\n# variables:\n${variables}\n`;
}

/**
 * What a link of the site can name, of what is looked at.
 * @param {Place} place
 * @param {{log: string, cluster: string, verdict: any,
 *   window: {from: number, to: number} | null}} about
 * @returns {Record<string, string>} without what the view does not know
 */
export function fieldsOf(place, { log, cluster, verdict, window }) {
  const { view, kind, namespace, name, entry } = place;
  const isNode = view === 'node' || view === 'compare';
  const isObject = view === 'object' || view === 'workload';
  const all = {
    log, cluster, entry, node: isNode ? name : '',
    name: isNode || isObject ? name : '',
    kind: isObject ? kind : '', namespace: isObject ? namespace : '',
    cause: verdict ? term(verdict.cause) : '', verdict: verdict?.id ?? '',
    sentence: verdict?.sentence ?? '',
    ...(window && {
      from: writeShort(window.from), to: writeShort(window.to),
      from_ms: String(Math.round(window.from)),
      to_ms: String(Math.round(window.to)),
    }),
  };
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== ''));
}

/**
 * Fill a link in.
 * @param {string} url with names in braces
 * @param {Record<string, string>} fields
 * @returns {string | null} null where the view does not know one of them, or
 *   it would lead anywhere but to a page
 */
export function linkOf(url, fields) {
  const names = [...url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  if (!/^https?:\/\//.test(url)) return null;
  if (names.some((name) => fields[name] === undefined)) return null;
  return url.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(fields[name]));
}

/** What the page requests: with its views, a pure function of the place. */

import * as queries from './ask/queries.js';
import { writeShort } from './time/instant.js';

/** @typedef {import('./ask/answers.js').Need} Need */
/** @typedef {import('./route/place.js').Place} Place */

export const OVERVIEW_EVERY = 10_000;
/** Whether the recorder still responds; silence is noticed within both. */
const PULSE_EVERY = 2500;
const PULSE_PATIENCE = 4000;
/** Milliseconds; for the other clusters of a fleet, which are not followed. */
export const OTHERS_EVERY = 30_000;
/** Of a list, on each page of it. */
export const PAGE_LENGTH = 200;
const HITS_MAX = 20;

/**
 * @typedef {{log: string, name?: string, kind: string, began: number | null,
 *   until: number | null}} Known a log, its cluster, whether it is live or a
 *   tape, and the time span that is recorded
 * @typedef {{place: Place, known: Known | null, searched: string,
 *   searchLogs?: Known[], job?: {log: string, name: string} | null,
 *   partOf: (name: string) => ((state: Ready) => Need[]) | null,
 *   isHanding?: boolean, cursorsOf: (slot: string) => string[],
 *   logs?: Known[], struck?: {node: string, at: string} | null}} State
 *   `job` is the one that a search found; `partOf` returns what a part of the
 *   page requests, null until it is loaded; `cursorsOf` a list lead to its older
 *   pages that are open; `logs` are those of the fleet; `struck` is the verdict
 *   whose metrics are shown
 * @typedef {State & {known: Known}} Ready
 */

/**
 * Return what to request.
 * @param {State} state
 * @returns {Need[]}
 */
export function needsOf(state) {
  const { place, known, searched, searchLogs = [], job, partOf } = state;
  const needs = [
    {
      slot: 'overview', query: queries.OVERVIEW, variables: {},
      every: OVERVIEW_EVERY,
    },
    {
      slot: 'pulse', query: queries.PULSE, variables: {}, isAside: true,
      every: PULSE_EVERY, patience: PULSE_PATIENCE,
    },
  ];
  // Only the overview shows which log is meant.
  if (known === null) return needs;
  const parts = [
    place.view, place.entry !== '' && 'evidence', state.isHanding && 'handing',
  ];
  for (const name of parts) {
    if (name) needs.push(...(partOf(name)?.({ ...state, known }) ?? []));
  }
  for (const { log } of searched === '' ? [] : searchLogs) {
    const variables = { log, text: searched, first: HITS_MAX };
    needs.push({ slot: `search ${log}`, query: queries.SEARCH, variables });
  }
  if (job) {
    needs.push({
      slot: 'job', query: queries.ENDED, variables: job, isAside: true,
    });
  }
  return needs;
}

/** @param {Known} known */
export const logOf = ({ log }) => ({ log });

/** @param {number | null} at */
export const written = (at) => (at === null ? null : writeShort(at));

/**
 * The older pages of a list that are open.
 * @param {Need} first its newest page
 * @param {State['cursorsOf']} cursorsOf
 * @returns {Need[]}
 */
export const olderOf = ({ slot, query, variables }, cursorsOf) =>
  cursorsOf(slot).map((before, number) => ({
    slot: `${slot} ${number}`, query, variables: { ...variables, before },
  }));

/**
 * Where the incidents of a log are kept.
 * @param {Known} known
 * @param {boolean} isFirst
 * @returns {string}
 */
export const fleetSlot = ({ log }, isFirst) =>
  isFirst ? 'incidents' : `fleet ${log}`;

/**
 * Where the jobs of a log are kept.
 * @param {Known} known
 * @param {boolean} isFirst
 * @returns {string}
 */
export const jobsSlot = ({ log }, isFirst) => isFirst ? 'jobs' : `jobs of ${log}`;

/**
 * The slot of the answer about a node, which no other node shares.
 * @param {Place} place
 * @returns {string}
 */
export const nodeSlot = ({ name, log, cluster }) =>
  `node ${name} ${log} ${cluster}`;

/**
 * An object as kubectl names it.
 * @param {Place} place
 */
export const nameOf = ({ kind, namespace, name }) =>
  [kind, namespace, name].filter(Boolean).join('/');

/** What each view asks for. A pure function of where one is. */

import * as queries from './ask/queries.js';
import { writeShort } from './time/instant.js';
import { readAge } from './time/asked.js';
import { readFilter } from './words/filter.js';

/** @typedef {import('./ask/answers.js').Need} Need */
/** @typedef {import('./route/place.js').Place} Place */

const OVERVIEW_EVERY = 10_000;
const STRIP_STEPS = 120;
const MAP_STEPS = 240;
const PAGE_LENGTH = 200;
const HITS_MAX = 20;
/** As much as is looked at when nothing else is asked for. */
const LAST = '24h';

/**
 * @typedef {{log: string, kind: string, began: number | null,
 *   until: number | null}} Known which log it is, live or tape, and from when
 *   to when it is known
 * @typedef {{place: Place, known: Known | null, searched: string,
 *   cursors: string[]}} State `cursors` lead to the older pages that are open
 */

/**
 * Say what to ask.
 * @param {State} state
 * @returns {Need[]}
 */
export function needsOf(state) {
  const { place, known, searched } = state;
  const needs = [
    {
      slot: 'overview', query: queries.OVERVIEW, variables: {},
      every: OVERVIEW_EVERY,
    },
  ];
  // Which log is meant is known with the overview alone.
  if (known === null) return needs;
  needs.push(...VIEWS[place.view]({ ...state, known }));
  if (place.entry !== '') {
    const variables = { name: place.entry };
    needs.push({ slot: 'entry', query: queries.ENTRY_DETAIL, variables });
  }
  if (searched !== '') {
    const variables = { ...logOf(known), text: searched, first: HITS_MAX };
    needs.push({ slot: 'search', query: queries.SEARCH, variables });
  }
  return needs;
}

/** @typedef {State & {known: Known}} Ready */
/** @type {Record<import('./route/place.js').View, (state: Ready) => Need[]>} */
const VIEWS = {
  fleet: ofFleet,
  node: ofNode,
  object: ofObject,
  workload: ofWorkload,
  sources: ({ known }) => [
    { slot: 'gaps', query: queries.GAPS, variables: logOf(known) },
  ],
};

/** @param {Known} known */
const logOf = ({ log }) => ({ log });

/** @param {number | null} at */
const written = (at) => (at === null ? null : writeShort(at));

/** @param {Ready} state @returns {Need[]} */
function ofFleet(state) {
  const { place, known, cursors } = state;
  const variables = {
    ...logOf(known), ...fleetSpan(state), ...readFilter(place.filter).variables,
    last: PAGE_LENGTH, steps: STRIP_STEPS,
  };
  const older = cursors.map((before, place) => ({
    slot: `incidents ${place}`,
    query: queries.INCIDENTS,
    variables: { ...variables, before },
  }));
  return [{ slot: 'incidents', query: queries.INCIDENTS, variables }, ...older];
}

/**
 * The window of the fleet as it is asked.
 * @param {Ready} state
 */
function fleetSpan({ place, known }) {
  if (place.from !== null && place.to !== null) {
    return { since: written(place.from), until: written(place.to) };
  }
  const { began, until, kind } = known;
  const everything = { since: written(began), until: null };
  const age = readAge(place.last || LAST);
  if (age === null || began === null || until === null) return everything;
  // Before it began there is nothing, and nobody has to be told so.
  if (until - age < began) return everything;
  if (kind === 'TAPE') return { since: written(until - age), until: null };
  return { since: place.last || LAST, until: null };
}

/** @param {Ready} state @returns {Need[]} */
function ofNode({ place, known }) {
  const log = logOf(known);
  const node = place.name;
  if (place.from === null || place.to === null) {
    const variables = { ...log, node };
    return [{ slot: 'latest', query: queries.LATEST, variables }];
  }
  const asked = asking({ from: place.from, to: place.to }, known);
  const everything = { since: written(known.began), until: null };
  return [
    {
      slot: nodeSlot(place), query: queries.NODE,
      variables: { ...log, node, ...asked },
    },
    {
      slot: 'map', query: queries.INCIDENTS, isAside: true,
      variables: { ...log, node, ...everything, last: 1, steps: MAP_STEPS },
    },
  ];
}

/**
 * Where the answer about a node is kept: another node's is never shown for it.
 * @param {Place} place
 * @returns {string}
 */
export const nodeSlot = ({ name, log, cluster }) =>
  `node ${name} ${log} ${cluster}`;

/**
 * More than is seen, on a grid as coarse as the window, so that a hand that
 * moves the window asks once in a while and not with every step.
 * @param {{from: number, to: number}} window
 * @param {Known} known
 * @returns {{since: string | null, until: string | null}}
 */
export function asking({ from, to }, known) {
  const unit = 2 ** Math.ceil(Math.log2(to - from));
  const since = Math.floor(from / unit - 0.5) * unit;
  const until = Math.ceil(to / unit + 0.5) * unit;
  const { began, until: end } = known;
  return {
    since: written(Math.max(since, began ?? since)),
    // Beyond what is vouched for the recorder says where it ends.
    until: end !== null && until >= end ? null : written(until),
  };
}

/** @param {Place} place */
const nameOf = ({ kind, namespace, name }) =>
  [kind, namespace, name].filter(Boolean).join('/');

/** @param {Ready} state @returns {Need[]} */
function ofObject({ place, known, cursors }) {
  const log = { ...logOf(known), name: nameOf(place) };
  const variables = { ...log, last: PAGE_LENGTH };
  const needs = [{ slot: 'object', query: queries.OBJECT, variables }];
  cursors.forEach((before, number) => needs.push({
    slot: `object ${number}`, query: queries.OBJECT,
    variables: { ...variables, before },
  }));
  needs.push({
    slot: 'document', query: queries.OBJECT_AT, isAside: true,
    variables: { ...log, time: written(place.to) },
  });
  if (place.left !== '' && place.right !== '') {
    needs.push({
      slot: 'difference', query: queries.DIFFERENCE,
      variables: { ...log, from: place.left, to: place.right },
    });
  }
  return needs;
}

/** @param {Ready} state @returns {Need[]} */
function ofWorkload({ place, known }) {
  const variables = {
    ...logOf(known), name: nameOf(place), since: null, until: null,
  };
  return [{ slot: 'workload', query: queries.WORKLOAD, variables }];
}

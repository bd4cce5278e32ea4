/** What each view requests: a pure function of the place. */

import * as queries from './ask/queries.js';
import { readInstant, writeShort } from './time/instant.js';
import { readAge } from './time/asked.js';
import { readFilter } from './words/filter.js';

/** @typedef {import('./ask/answers.js').Need} Need */
/** @typedef {import('./route/place.js').Place} Place */

const OVERVIEW_EVERY = 10_000;
/** Whether the recorder still responds; silence is noticed within both. */
const PULSE_EVERY = 2500;
const PULSE_PATIENCE = 4000;
/** Milliseconds; for the other clusters of a fleet, which are not followed. */
const OTHERS_EVERY = 30_000;
const WEEK = 7 * 86_400_000;
const STRIP_STEPS = 120;
const MAP_STEPS = 240;
const PAGE_LENGTH = 200;
const HITS_MAX = 20;
/** The default window. */
const LAST = '24h';

/**
 * @typedef {{log: string, name?: string, kind: string, began: number | null,
 *   until: number | null}} Known a log, its cluster, whether it is live or a
 *   tape, and the time span that is recorded
 * @typedef {{place: Place, known: Known | null, searched: string,
 *   searchLogs?: Known[], job?: {log: string, name: string} | null,
 *   isHanding?: boolean, cursorsOf: (slot: string) => string[],
 *   logs?: Known[]}} State
 *   `job` is the one that a search found; `cursorsOf` a list lead to its older
 *   pages that are open; `logs` are those of the fleet
 */

/**
 * Return what to request.
 * @param {State} state
 * @returns {Need[]}
 */
export function needsOf(state) {
  const { place, known, searched, searchLogs = [], job, isHanding } = state;
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
  needs.push(...VIEWS[place.view]({ ...state, known }));
  if (place.entry !== '') {
    const variables = { name: place.entry };
    needs.push({ slot: 'entry', query: queries.ENTRY_DETAIL, variables });
  }
  for (const { log } of searched === '' ? [] : searchLogs) {
    const variables = { log, text: searched, first: HITS_MAX };
    needs.push({ slot: `search ${log}`, query: queries.SEARCH, variables });
  }
  if (isHanding) {
    needs.push({
      slot: 'links', query: queries.LINKS, variables: {}, isAside: true,
    });
  }
  if (job) {
    needs.push({
      slot: 'job', query: queries.ENDED, variables: job, isAside: true,
    });
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
  compare: ofBoth,
  sources: ({ known }) => [
    {
      slot: 'sources', query: queries.SOURCES, variables: {},
      every: OVERVIEW_EVERY,
    },
    { slot: 'gaps', query: queries.GAPS, variables: logOf(known) },
  ],
};

/** @param {Known} known */
const logOf = ({ log }) => ({ log });

/** @param {number | null} at */
const written = (at) => (at === null ? null : writeShort(at));

/** @param {Ready} state @returns {Need[]} */
function ofFleet({ place, known, cursorsOf, logs = [known] }) {
  return logs.flatMap((one, number) => {
    const [first, ...others] = ofLog(place, one, number === 0);
    return [first, ...others, ...olderOf(first, cursorsOf)];
  });
}

/**
 * The older pages of a list that are open.
 * @param {Need} first its newest page
 * @param {State['cursorsOf']} cursorsOf
 * @returns {Need[]}
 */
const olderOf = ({ slot, query, variables }, cursorsOf) =>
  cursorsOf(slot).map((before, number) => ({
    slot: `${slot} ${number}`, query, variables: { ...variables, before },
  }));

/**
 * What a fleet requests of one log. The first is followed, the others polled.
 * @param {Place} place
 * @param {Known} known
 * @param {boolean} isFirst
 * @returns {Need[]}
 */
function ofLog(place, known, isFirst) {
  const span = fleetSpan(place, known);
  const variables = {
    ...logOf(known), ...span, ...readFilter(place.filter).variables,
    last: PAGE_LENGTH, steps: STRIP_STEPS,
  };
  /** @type {Need[]} */
  const needs = [{
    slot: fleetSlot(known, isFirst), query: queries.INCIDENTS, variables,
    ...(isFirst ? {} : { every: OTHERS_EVERY }),
  }];
  const week = (known.until ?? 0) - WEEK;
  const isShort = (readInstant(span.since ?? '') ?? known.until ?? 0) > week;
  // Recurrence is counted over a week; a younger log is read in full.
  if (isShort && span.since !== written(known.began)) {
    const since = written(Math.max(week, known.began ?? week));
    needs.push({
      slot: `recent ${known.log}`, query: queries.RECENT, isAside: true,
      variables: { ...logOf(known), since },
    });
  }
  return needs;
}

/**
 * Where the incidents of a log are kept.
 * @param {Known} known
 * @param {boolean} isFirst
 * @returns {string}
 */
export const fleetSlot = ({ log }, isFirst) =>
  isFirst ? 'incidents' : `fleet ${log}`;

/**
 * The window of the fleet as it is requested of a log.
 * @param {Place} place
 * @param {Known} known
 */
function fleetSpan(place, known) {
  if (place.from !== null && place.to !== null) {
    return { since: written(place.from), until: written(place.to) };
  }
  const { began, until, kind } = known;
  const everything = { since: written(began), until: null };
  const age = readAge(place.last || LAST);
  if (age === null || began === null || until === null) return everything;
  // Before it began there is nothing, which need not be shown.
  if (until - age < began) return everything;
  if (kind === 'TAPE') return { since: written(until - age), until: null };
  return { since: place.last || LAST, until: null };
}

/** @param {Ready} state @returns {Need[]} */
function ofBoth(state) {
  const { place, known } = state;
  const [first] = ofNode(state);
  if (place.from === null || place.to === null) return [first];
  const other = asking(
    { from: place.from + place.shift, to: place.to + place.shift }, known);
  return [first, {
    slot: 'compared', query: queries.NODE,
    variables: { ...logOf(known), node: place.other || place.name, ...other },
  }, {
    slot: 'comparable', query: queries.COMPARABLE, isAside: true,
    variables: {
      ...logOf(known), node: place.name, since: written(known.began),
    },
  }];
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
 * The slot of the answer about a node, which no other node shares.
 * @param {Place} place
 * @returns {string}
 */
export const nodeSlot = ({ name, log, cluster }) =>
  `node ${name} ${log} ${cluster}`;

/**
 * A window larger than what is shown, on a grid as coarse as it, so that moving
 * it sends a request now and then and not with every step. The margin ends
 * where the record does; the shown part does not, so that the answer states
 * which time in it was not recorded.
 * @param {{from: number, to: number}} window
 * @param {Known} known
 * @returns {{since: string | null, until: string | null}}
 */
export function asking({ from, to }, known) {
  const unit = 2 ** Math.ceil(Math.log2(to - from));
  const since = Math.floor(from / unit - 0.5) * unit;
  const until = Math.ceil(to / unit + 0.5) * unit;
  const { began, until: end } = known;
  const isBefore = began !== null && from < began;
  const isBehind = end !== null && from >= end;
  return {
    since: written(isBefore ? since : Math.max(since, began ?? since)),
    // Beyond what is vouched for, the recorder reports where it ends.
    until: end !== null && until >= end && !isBehind ? null : written(until),
  };
}

/**
 * An object as kubectl names it.
 * @param {Place} place
 */
export const nameOf = ({ kind, namespace, name }) =>
  [kind, namespace, name].filter(Boolean).join('/');

/** @param {Ready} state @returns {Need[]} */
function ofObject({ place, known, cursorsOf }) {
  const log = { ...logOf(known), name: nameOf(place) };
  const variables = { ...log, last: PAGE_LENGTH };
  /** @type {Need} */
  const first = { slot: 'object', query: queries.OBJECT, variables };
  /** @type {Need[]} */
  const needs = [first, ...olderOf(first, cursorsOf)];
  needs.push({
    slot: 'document', query: queries.OBJECT_AT, isAside: true,
    variables: { ...log, time: written(place.to) },
  });
  needs.push({
    slot: 'who', query: queries.WHO, isAside: true,
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
  return [
    { slot: 'endings', query: queries.ENDINGS, variables },
    { slot: 'workload', query: queries.WORKLOAD, variables },
  ];
}

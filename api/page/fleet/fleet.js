/** The fleet: the answers of its logs, combined as the place selects. */

import { fleetSlot } from '../needs.js';
import { orderOf, sorted } from '../ordering.js';
import { readInstant } from '../time/instant.js';
import { facetsOf } from '../words/counts.js';
import { readFilter } from '../words/filter.js';
import { incidentsOf } from '../words/incident.js';
import { COLUMNS } from './columns.js';
import { placesOf } from './standing.js';
import { returnsOf } from './sums.js';
import { GROUPINGS, grouped } from './traits.js';

const BARS = 120;
/** Of the window of a whole log, on both sides. */
const ROOM = 0.02;

/**
 * Combine the answers of a fleet.
 * @param {import('../reading.js').Reading} page
 */
export function fleetOf(page) {
  const { place, answers } = page;
  const logs = page.fleetLogs.map((known, number) => {
    const answer = answers.of(fleetSlot(known, number === 0));
    const recent = answers.of(`recent ${known.log}`).data?.incidents?.nodes ?? [];
    const older = page.pagesOf(fleetSlot(known, number === 0)).slice(1);
    return {
      known, answer, recent, found: answer.data?.incidents ?? null,
      pages: [answer.data, ...older.map(({ data }) => data)],
    };
  });
  const pages = logs.flatMap((one) => one.pages);
  const places = placesOf(logs.flatMap(({ known: { log }, pages: all }) =>
    all.map((data) => ({ log, data }))));
  const names = new Map(logs.length < 2 ? []
    : logs.map(({ known: { log, name } }) => [log, name]));
  const { words } = readFilter(place.filter);
  const chosen = incidentsOf(pages, words);
  const by = GROUPINGS.includes(place.group) ? place.group : groupOf(place.sort);
  const groups = grouped(sorted(COLUMNS, chosen, place.sort, places), by,
    { places, zone: place.zone, names });
  const incidents = [...new Set(groups.flatMap((group) => group.incidents))];
  const recent = [...logs.flatMap((one) => one.recent), ...incidentsOf(pages, [])];
  return {
    logs, names, places, groups, by, incidents,
    facets: facetsOf(logs.map(({ found }) => found?.facets ?? [])),
    isNarrowed: words.length > 0,
    returns: returnsOf([...new Map(recent.map((one) => [one.id, one])).values()]),
    window: windowOf(place, logs),
    count: logs.reduce((sum, { found }) => sum + (found?.count ?? 0), 0),
  };
}

/** By day where the list is in order of time, else not at all. @param {string} sort */
const groupOf = (sort) => (orderOf(COLUMNS, sort).id === 'time' ? 'day' : 'nothing');

/**
 * The window, as requested or as answered.
 * @param {import('../route/place.js').Place} place
 * @param {{known: import('../needs.js').Known, found: any}[]} logs
 */
export function windowOf({ from, to }, logs) {
  if (from !== null && to !== null) return { from, to };
  const spans = logs.flatMap(({ known: { began, until }, found }) => {
    if (found === null || began === null || until === null) return [];
    const room = Math.max((until - began) * ROOM, 1000);
    const since = readInstant(found.coverage.since ?? '') ?? began - room;
    const end = readInstant(found.coverage.until ?? '') ?? until + room;
    return [{ from: Math.max(since, began - room), to: end }];
  });
  if (spans.length === 0) return null;
  const first = Math.min(...spans.map((span) => span.from));
  return { from: first, to: Math.max(...spans.map((span) => span.to), first + 1000) };
}

/**
 * Count incidents over time.
 * @param {ReturnType<typeof fleetOf>} fleet
 * @returns {{from: number, to: number, count: number}[]}
 */
export function barsOf({ incidents, window, logs, isNarrowed, count }) {
  if (window === null) return [];
  const [{ found }] = logs;
  const isWhole = logs.length > 1 || isNarrowed || incidents.length === count;
  if (!isWhole) {
    // The recorder has counted incidents that are not loaded here.
    return found.histogram.steps.map((/** @type {any} */ step) => ({
      from: readInstant(step.from) ?? 0, to: readInstant(step.to) ?? 0,
      count: step.count,
    }));
  }
  const unit = (window.to - window.from) / BARS;
  const counts = new Map();
  for (const incident of incidents) {
    const at = readInstant(incident.from) ?? 0;
    const place = Math.floor((at - window.from) / unit);
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return [...counts].map(([place, times]) => ({
    from: window.from + place * unit, to: window.from + (place + 1) * unit,
    count: times,
  }));
}

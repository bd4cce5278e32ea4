/**
 * What follows from the place and the answers together: windows, lanes,
 * verdicts. Each is computed once for the answers that it depends on.
 */

import { fleetSlot, jobsSlot, nodeSlot } from './needs.js';
import { readInstant } from './time/instant.js';
import { dayAndClock } from './time/clock.js';
import { fitted } from './time/window.js';
import { partOf } from './parts.js';

const HOUR = 3_600_000;
const NONE = Object.freeze([]);

/** The reading half of the page. */
export class Reading {
  /**
   * @param {import('./route/place.js').Place} place
   * @param {import('./ask/answers.js').Answers} answers
   */
  constructor(place, answers) {
    this.place = place;
    this.answers = answers;
    this.madeFrom = /** @type {unknown[]} */ ([]);
    this.made = /** @type {import('./timeline/lane.js').ReadyLane[]} */ ([]);
  }

  /** What is known of the log; a page knows. */
  get known() {
    return /** @type {import('./needs.js').Known | null} */ (null);
  }

  /** How many older pages of lists are open; a page knows. */
  get open() {
    return 0;
  }

  /** The clusters that are away; a page knows. */
  get away() {
    return /** @type {{cluster: string, why: string}[]} */ (
      /** @type {unknown} */ (NONE));
  }

  /** The sources of the log; a page knows. */
  get sources() {
    return /** @type {any[]} */ (NONE);
  }

  /** The end of the record, or now; a page knows. */
  get end() {
    return /** @type {number | null} */ (null);
  }

  /**
   * The pages of a list, newest first.
   * @param {string} first the slot of the newest
   */
  pagesOf(first) {
    const infos = [];
    for (let number = -1; number < this.open; number += 1) {
      const slot = number < 0 ? first : `${first} ${number}`;
      const { data } = this.answers.of(slot);
      const info = (data?.object?.versions ?? data?.workloads
        ?? data?.incidents)?.pageInfo;
      if (info === undefined) break;
      infos.push({ ...info, data });
    }
    return infos;
  }

  /** The slots of the lists that are shown. */
  get lists() {
    const { view } = this.place;
    const slotOf = view === 'jobs' ? jobsSlot : fleetSlot;
    return view === 'object' ? ['object']
      : this.fleetLogs.map((known, place) => slotOf(known, place === 0));
  }

  /** Whether a list has more than is open of it. */
  get hasOlder() {
    return this.lists.some((slot) =>
      this.pagesOf(slot).at(-1)?.hasPreviousPage ?? false);
  }

  /** The fleet, from its answers and the place; null until its view is loaded. */
  get fleet() {
    return partOf('fleet')?.fleetOf(this) ?? null;
  }

  /** The jobs, from the answers and the place; null until their view is loaded. */
  get jobs() {
    return partOf('jobs')?.jobsOf(this) ?? null;
  }

  /** The incidents of the fleet, in the order in which they are listed. */
  get incidents() {
    return this.fleet?.incidents ?? NONE;
  }

  /** What is known of the logs of the fleet; a page knows. */
  get fleetLogs() {
    return /** @type {import('./needs.js').Known[]} */ (NONE);
  }

  /** Everything that is recorded, from when to when. */
  get logWindow() {
    const { known } = this;
    if (known === null || known.began === null || known.until === null) {
      return null;
    }
    const room = Math.max((known.until - known.began) * 0.02, 1000);
    return { from: known.began - room, to: known.until + room };
  }

  /** The answer about the node that is shown, or null. */
  get node() {
    return this.answers.of(nodeSlot(this.place)).data?.node ?? null;
  }

  /** The window of a node. */
  get nodeWindow() {
    const { from, to } = this.place;
    if (from !== null && to !== null) return { from, to };
    const end = this.known?.until ?? Date.now();
    const began = this.known?.began ?? -Infinity;
    const hour = { from: end - HOUR, to: end };
    return began < end
      ? { ...hour, from: Math.max(hour.from, Math.ceil(began)) }
      : hour;
  }

  /** The verdicts that reach into the window, oldest first. */
  get verdicts() {
    const { from, to } = this.nodeWindow;
    const all = this.node?.why?.verdicts ?? [];
    return all.filter((/** @type {any} */ verdict) => {
      const began = readInstant(verdict.beganAt) ?? 0;
      const back = readInstant(verdict.backInServiceAt ?? '') ?? Infinity;
      return began <= to && back >= from;
    });
  }

  /** The verdict whose chain is shown: the one that was chosen, or the newest. */
  get openVerdict() {
    const { verdict: id } = this.place;
    const { verdicts } = this;
    return verdicts.find((/** @type {any} */ one) => one.id === id)
      ?? verdicts.at(-1) ?? null;
  }

  /**
   * The workloads that a verdict hit.
   * @param {any} verdict
   * @returns {any[]}
   */
  hitsOf({ beganAt, backInServiceAt }) {
    const from = readInstant(beganAt) ?? 0;
    const to = readInstant(backInServiceAt ?? '') ?? Infinity;
    const hits = this.node?.impact?.workloads ?? [];
    return hits.filter((/** @type {any} */ { hitAt }) => {
      const at = readInstant(hitAt) ?? 0;
      return this.verdicts.length === 1 || (at >= from && at <= to);
    });
  }

  /** What ended the workload that is shown, oldest first. */
  get endings() {
    return this.answers.of('endings').data?.whyWorkload?.endings ?? NONE;
  }

  /** The ending that is shown: the chosen one, or the newest disruption. */
  get openEnding() {
    const { endings, place: { verdict: id } } = this;
    return endings.find((/** @type {any} */ one) => one.id === id)
      ?? endings.findLast((/** @type {any} */ one) =>
        one.endedBy !== 'COMPLETION')
      ?? endings.at(-1) ?? null;
  }

  /** The verdict whose metrics are shown: of a workload, the first failure. */
  get struck() {
    const { view } = this.place;
    if (view === 'node') return this.openVerdict;
    const verdicts = view === 'workload' ? this.openEnding?.verdicts ?? [] : [];
    return verdicts.reduce((/** @type {any} */ first, /** @type {any} */ one) =>
      first === null || one.at < first.at ? one : first, null);
  }

  /** What was kept of its node, and of a healthy peer. */
  get kept() {
    const { struck } = this;
    const kept = this.answers.of('metrics').data?.metrics?.kept ?? NONE;
    return kept.filter((/** @type {any} */ { node, peerOf }) =>
      struck !== null && [node, peerOf].includes(struck.node));
  }

  /** The lanes of the view; none until it is loaded. */
  get lanes() {
    const part = partOf(this.place.view);
    const data = this.place.view === 'node'
      ? this.node : (this.answers.of('workload').data?.workload ?? null);
    const verdict = this.place.view === 'node' ? this.openVerdict : null;
    const { sources, endings, end } = this;
    const from = [part, data, verdict?.id, endings, sources, end];
    if (this.madeFrom.some((one, place) => one !== from[place])
      || this.madeFrom.length === 0) {
      this.madeFrom = from;
      this.made = data === null ? []
        : part?.lanesOf?.({ data, verdict, endings, sources, end }) ?? [];
    }
    return this.made;
  }

  /** The facts that the window shows, in log order. */
  get factsInWindow() {
    const { from, to } = this.nodeWindow;
    return (this.node?.timeline?.facts ?? []).filter(
      (/** @type {any} */ fact) => {
        const at = readInstant(fact.at) ?? 0;
        return at >= from && at <= to;
      },
    );
  }

  /** The window that fits everything in the view; null if that is nothing. */
  get fit() {
    if (this.place.view === 'workload') return null;
    const { verdicts, node } = this;
    return fitted(timesToFit(verdicts, node?.timeline));
  }

  /**
   * The window of a workload: as chosen, or from its first Pod to the end of
   * its last; to the end of the log if that still runs.
   */
  get workloadWindow() {
    const { from, to } = this.place;
    if (from !== null && to !== null) return { from, to };
    const times = this.lanes.flatMap(({ lane }) =>
      lane.spans.flatMap((span) => [span.from, span.to])
        .concat(lane.marks.map((mark) => mark.at)));
    const end = this.known?.until;
    const known = times.filter(Number.isFinite);
    return fitted(end && times.includes(Infinity) ? [...known, end] : known)
      ?? { from: Date.now() - HOUR, to: Date.now() };
  }

  /** What lies nearest to a window in which nothing happened to the node. */
  nearestToNode() {
    const nearest = this.answers.of('map').data?.incidents?.nearest;
    const newest = this.answers.of('map').data?.incidents?.nodes.at(-1);
    const at = readInstant(newest?.from ?? nearest?.before?.at ?? '');
    if (at === null) return [];
    const says = newest?.sentence ?? nearest.before.says;
    const page = /** @type {any} */ (this);
    return [{
      href: page.keep({ from: at - HOUR / 6, to: at + HOUR / 6, verdict: '' }),
      says: `${dayAndClock(at, this.place.zone)}: ${says}`,
    }];
  }
}

/**
 * The times that a fit shows: of the verdicts, or else of all facts.
 * @param {any[]} verdicts
 * @param {any} timeline
 * @returns {number[]}
 */
function timesToFit(verdicts, timeline) {
  const signs = verdicts.flatMap((verdict) => [
    ...verdict.evidence.map((/** @type {any} */ sign) => sign.at),
    verdict.backInServiceAt,
  ]);
  const facts = timeline?.facts.map((/** @type {any} */ fact) => fact.at) ?? [];
  return instantsOf(signs.length > 0 ? signs : facts);
}

/** @param {(string | null | undefined)[]} texts @returns {number[]} */
function instantsOf(texts) {
  return texts
    .map((text) => readInstant(text ?? ''))
    .filter((at) => at !== null);
}

/**
 * A window around a verdict, with room to see what was before and after: as
 * far as that was recorded.
 * @param {any} verdict
 * @param {number | null} [began] when its log did
 * @returns {{from: number, to: number}}
 */
export function windowAround({ beganAt, at, backInServiceAt }, began = null) {
  const times = instantsOf([beganAt, at, backInServiceAt]);
  const { from, to } =
    /** @type {{from: number, to: number}} */ (fitted(times));
  const room = (to - from) / 3;
  const first = Math.min(began ?? -Infinity, ...times);
  return {
    from: Math.max(Math.round(from - room), Math.ceil(first)),
    to: Math.round(to + room),
  };
}

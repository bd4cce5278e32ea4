/**
 * The page: the place, the answers, and the actions.
 *
 * Views read it and call it; it has no markup. What the user chose is in the
 * place, and so in the address; the rest is lost when the tab is closed.
 */

import { leadingTo, writePlace } from './route/place.js';
import { needsOf, nodeSlot } from './needs.js';
import { partOf } from './parts.js';
import { Reading, windowAround } from './reading.js';
import { readInstant } from './time/instant.js';
import { logOf } from './words/incident.js';
import { isWorkload } from './words/workload.js';
import {
  clusterOf, endOf, fleetOf, isNamed, knownOf, leftOutOf, searchedOf,
} from './words/recording.js';

/** @typedef {import('./route/place.js').Place} Place */

/** Milliseconds that are shown before and after a moment. */
const AROUND = 600_000;
/** Pages of a list that are open at once. */
const PAGES_MAX = 10;

const UNTOUCHED = Object.freeze({
  shown: /** @type {'' | 'help' | 'goto' | 'search' | 'hand'} */ (''),
  text: '',
  hit: 0,
  chosen: -1,
  older: 0,
  hasFacets: false,
  refused: '',
  said: '',
  isLive: false,
});

/** The one page. */
export class Page extends Reading {
  /**
   * @param {Place} place
   * @param {import('./ask/answers.js').Answers} answers
   * @param {{changed: () => void, now: () => number,
   *   visit: (address: string, how: {replace: boolean}) => void,
   *   post: (query: string, variables: Record<string, unknown>)
   *     => Promise<any>}} world
   */
  constructor(place, answers, world) {
    super(place, answers);
    this.world = world;
    this.ui = { ...UNTOUCHED };
  }

  now() {
    return this.world.now();
  }

  /** The overview, or null before it is known. */
  get status() {
    return this.answers.of('overview').data?.status ?? null;
  }

  /** The cluster of the place, or null before it is known. */
  get cluster() {
    return clusterOf(this.status, this.place);
  }

  /** What is known of its log. */
  get known() {
    const { cluster } = this;
    return cluster === null ? null : knownOf(cluster);
  }

  /** Whether the fleet is every cluster, not one that is named. */
  get isOfAll() {
    return !isNamed(this.place);
  }

  /** What is known of the logs of the fleet. */
  get fleetLogs() {
    return fleetOf(this.status, this.place).map(knownOf);
  }

  /** How many older pages of lists are open. */
  get open() {
    return this.ui.older;
  }

  /** The clusters that the recorder cannot read now. */
  get away() {
    return this.status?.away ?? super.away;
  }

  /** What the fleet leaves out. */
  get leftOut() {
    return leftOutOf(this.status, this.place);
  }

  /** The logs that a search is made in. */
  get searchLogs() {
    return searchedOf(this.status, this.known?.log ?? '').map(knownOf);
  }

  /**
   * What a search found in each log, the one that is looked at first: nodes,
   * then workloads, then the rest.
   */
  get hits() {
    const { searchLogs: logs } = this;
    if (this.ui.text === '') return [];
    const hits = logs.flatMap(({ log, name }) =>
      (this.answers.of(`search ${log}`).data?.search?.hits ?? []).map(
        (/** @type {any} */ hit) => (
          { ...hit, log, cluster: logs.length > 1 ? name : '' })));
    const rank = (/** @type {any} */ hit) =>
      hit.kind === 'NODE' ? 0 : isWorkload(hit) ? 1 : 2;
    return hits.sort((one, other) => rank(one) - rank(other));
  }

  /** Its sources. */
  get sources() {
    return this.cluster?.sources ?? super.sources;
  }

  get end() {
    return this.cluster ? endOf(this.cluster) : null;
  }

  /** What has to be requested now. */
  get needs() {
    return needsOf({
      place: this.place,
      known: this.known,
      logs: this.fleetLogs,
      searched: this.ui.shown === 'search' ? this.ui.text : '',
      searchLogs: this.searchLogs,
      cursorsOf: (slot) => this.cursorsOf(slot),
      job: this.searchedJob,
      struck: this.struck,
      isHanding: this.ui.shown === 'hand',
      partOf: (name) => partOf(/** @type {any} */ (name))?.needsOf ?? null,
    });
  }

  /**
   * Cursors of the older pages of a list that are open, each from the one
   * before.
   * @param {string} slot
   */
  cursorsOf(slot) {
    const cursors = [];
    for (const page of this.pagesOf(slot)) {
      if (cursors.length >= this.open) break;
      if (!page.hasPreviousPage) break;
      cursors.push(page.startCursor);
    }
    return cursors;
  }

  /** The slot of the node that is shown. */
  get nodeSlot() {
    return nodeSlot(this.place);
  }

  /**
   * Change what is remembered for this tab only.
   * @param {Partial<typeof UNTOUCHED>} changes
   */
  set(changes) {
    this.ui = { ...this.ui, ...changes };
    this.world.changed();
  }

  /**
   * Go to another place, and update the address.
   * @param {Partial<Place>} changes
   * @param {{replace?: boolean}} [how] whether going back should skip it
   */
  go(changes, { replace = false } = {}) {
    this.place = { ...this.place, ...changes };
    this.world.visit(writePlace(this.place), { replace });
    this.world.changed();
  }

  /**
   * Take the place from an address, as when the user goes back.
   * @param {Place} place
   */
  arrive(place) {
    const { view, name, sort } = this.place;
    const isOther =
      place.view !== view || place.name !== name || place.sort !== sort;
    this.place = place;
    this.ui = {
      ...UNTOUCHED, isLive: this.ui.isLive,
      ...(isOther ? {} : { older: this.ui.older, chosen: this.ui.chosen }),
    };
    this.world.changed();
  }

  /** @param {Partial<Place>} to @returns {string} */
  href(to) {
    return writePlace(leadingTo(this.place, to));
  }

  /** @param {Partial<Place>} changes @returns {string} */
  keep(changes) {
    return writePlace({ ...this.place, ...changes });
  }

  /**
   * @param {any} reference
   * @param {string} [log] if it is not the one that is looked at
   * @returns {string}
   */
  objectLink({ kind, namespace, name }, log) {
    return this.href({
      ...this.inLog(log),
      view: 'object', kind: kind.toLowerCase(), namespace: namespace ?? '',
      name,
    });
  }

  /**
   * @param {any} workload
   * @param {string} [log] if it is not the one that is looked at
   * @returns {string}
   */
  workloadLink({ kind, namespace, name }, log) {
    return this.href({
      ...this.inLog(log), view: 'workload', kind: kind.toLowerCase(), namespace,
      name,
    });
  }

  /** A job with its last disruption open. @param {any} job @returns {string} */
  jobLink({ kind, namespace, name, log, lastEnding }) {
    return this.href({
      ...this.inLog(log), view: 'workload', kind: kind.toLowerCase(), namespace,
      name, verdict: lastEnding?.id ?? '',
    });
  }

  /** The place of a log, where another is looked at. @param {string} [log] */
  inLog(log) {
    return log && log !== this.known?.log || this.fleetLogs.length > 1
      ? { log: log ?? this.known?.log, cluster: '' } : {};
  }

  /**
   * Where an incident leads: its first node, at the time, its verdict open.
   * @param {any} incident
   * @returns {string}
   */
  incidentLink({ id, verdicts: [verdict] }) {
    const log = logOf(id);
    const known =
      this.fleetLogs.find((one) => one.log === log) ?? this.known;
    return this.href({
      ...this.inLog(log),
      view: 'node', name: verdict.node, verdict: verdict.id,
      ...windowAround(verdict, known?.began),
    });
  }

  /**
   * Where what happened to a node leads, when it ended a workload.
   * @param {string} name
   * @param {any} ending
   * @returns {string}
   */
  nodeLink(name, { at, verdicts }) {
    const verdict = verdicts.find((/** @type {any} */ one) => one.node === name);
    const moment = readInstant(at) ?? 0;
    return this.href({
      view: 'node', name, verdict: verdict?.id ?? '',
      ...(verdict ? windowAround(verdict, this.known?.began)
        : { from: moment - AROUND, to: moment + AROUND }),
    });
  }

  /** @param {any} hit @returns {string} */
  hitLink(hit) {
    const { log } = hit;
    if (hit.kind === 'ENTRY') return this.keep({ entry: hit.entry });
    if (hit.kind === 'NODE') {
      return this.href({ ...this.inLog(log), view: 'node', name: hit.node });
    }
    return isWorkload(hit) ? this.workloadLink(hit.object, log)
      : this.objectLink(hit.object, log);
  }

  /** The workload that is chosen among what a search found; else null. */
  get searchedJob() {
    const hit = this.ui.shown === 'search' ? this.hits[this.ui.hit] : null;
    return isWorkload(hit) ? { log: hit.log, name: hit.title } : null;
  }

  /** @param {'' | 'help' | 'goto' | 'search' | 'hand'} shown */
  show(shown) {
    this.set({ shown, text: '', hit: 0, refused: '' });
  }

  /** Open one more page of what is older. */
  older() {
    this.set({ older: Math.min(this.ui.older + 1, PAGES_MAX) });
  }
}

/** What a person asks the page to do, by a key or a button. */

import { light } from './lighting.js';
import { Page } from './page.js';
import { partOf } from './parts.js';
import { POSTMORTEM } from './ask/queries.js';
import { nameOf } from './needs.js';
import { writeShort } from './time/instant.js';
import { readAsked } from './time/asked.js';
import { centred, panned, zoomed } from './time/window.js';
import { moved } from './timeline/arranging.js';

const PAN_SHARE = 0.25;
const ZOOM_FACTOR = 0.6;
const TIMED = new Set(['node', 'workload', 'compare']);

/** The page, with everything that can be done to it. */
export class DoingPage extends Page {
  /** The window that keys move, if the view has one. */
  get window() {
    const { view } = this.place;
    if (!TIMED.has(view)) return null;
    return view === 'workload' ? this.workloadWindow : this.nodeWindow;
  }

  /**
   * Perform the action of a key.
   * @param {{action: string, by?: number}} asked
   */
  act({ action, by = 0 }) {
    if (['search', 'help', 'goto', 'hand'].includes(action)) {
      this.show(/** @type {any} */ (action));
    } else if (action === 'zone') this.switchZone();
    else if (action === 'copy') this.copy();
    else if (action === 'close') this.close();
    else if (action === 'next') this.choose(by);
    else if (action === 'open') this.openChosen();
    else if (action === 'step') this.step(by);
    else if (action === 'record') this.record(by);
    else this.moveWindow(action, by);
  }

  /** @param {string} action @param {number} by */
  moveWindow(action, by) {
    const { window } = this;
    if (window === null) return;
    const middle = (window.from + window.to) / 2;
    const to = {
      pan: () => panned(window, by * PAN_SHARE),
      zoom: () => zoomed(window, by > 0 ? ZOOM_FACTOR : 1 / ZOOM_FACTOR, middle),
      fit: () => this.fit,
    }[action]?.();
    if (to) this.go(to, { replace: action !== 'fit' });
    else if (action === 'fit') this.go({ from: null, to: null });
  }

  switchZone() {
    const zone = this.place.zone === 'utc' ? 'local' : 'utc';
    this.go({ zone }, { replace: true });
  }

  /** Close what is open: what lies above the page first, then the entry. */
  close() {
    if (this.ui.shown !== '') this.show('');
    else if (this.place.entry !== '') this.go({ entry: '' });
  }

  /** What can be chosen one after the other: incidents, or facts. */
  get choices() {
    const { view } = this.place;
    if (view === 'fleet') return this.incidents;
    if (view === 'jobs') return this.jobs?.jobs ?? [];
    return view === 'node' ? this.factsInWindow : [];
  }

  /** @param {number} by */
  choose(by) {
    const { length } = this.choices;
    if (length === 0) return;
    const chosen = Math.min(Math.max(this.ui.chosen + by, 0), length - 1);
    this.set({ chosen });
    if (this.place.view !== 'node') return;
    const { entry } = this.choices[chosen];
    light(entry);
    if (this.place.entry !== '') this.go({ entry }, { replace: true });
  }

  openChosen() {
    const found = this.choices[this.ui.chosen];
    if (found === undefined) return;
    if (this.place.view === 'node') this.go({ entry: found.entry });
    else {
      this.world.follow(this.place.view === 'jobs' ? this.jobLink(found)
        : this.incidentLink(found));
    }
  }

  /** @param {number} number of a step of the open chain, from 1 */
  step(number) {
    if (this.place.view !== 'node') return;
    const step = this.openVerdict?.steps[number - 1];
    if (step) this.go({ entry: step.entries[0] });
  }

  /**
   * Open the record after the one that is open, or before it: those of the
   * steps first, in their order, then the others.
   * @param {number} by
   */
  record(by) {
    const { place, openVerdict } = this;
    if (place.view !== 'node' || openVerdict === null) return;
    const { steps, evidence } = openVerdict;
    const names = [...new Set([
      ...steps.flatMap((/** @type {any} */ step) => step.entries),
      ...evidence.map((/** @type {any} */ sign) => sign.entry),
    ])];
    const next = names.indexOf(place.entry) + by;
    const entry = place.entry === '' ? names.at(by > 0 ? 0 : -1) : names[next];
    if (entry !== undefined) this.go({ entry }, { replace: place.entry !== '' });
  }

  /**
   * Go to a time that was typed.
   * @param {string} text
   */
  goTo(text) {
    const { window, place } = this;
    const now = this.known?.until ?? this.now();
    const near = window ? (window.from + window.to) / 2 : now;
    const at = readAsked(text, { now, near, zone: place.zone });
    if (at === null) {
      this.set({ refused: `“${text}” is not a time: try 03:14, 2h or a date` });
      return;
    }
    this.show('');
    if (place.view === 'object') this.go({ to: at });
    else {
      const around = window ?? { from: near - 1_800_000, to: near + 1_800_000 };
      this.go({ ...centred(around, at), last: '' });
    }
  }

  /**
   * Fold, open, pin or move a lane.
   * @param {'fold' | 'open' | 'pin' | 'up' | 'down'} does
   * @param {string} id
   * @param {import('./timeline/lane.js').ReadyLane[]} shown
   */
  lane(does, id, shown) {
    const { folded, opened, pinned } = this.place;
    const without = (/** @type {string[]} */ list) =>
      list.filter((one) => one !== id);
    const changes = {
      fold: () => ({
        folded: [...without(folded), id], opened: without(opened),
        pinned: without(pinned),
      }),
      open: () => ({
        folded: without(folded), opened: [...without(opened), id],
      }),
      pin: () => ({
        pinned: pinned.includes(id) ? without(pinned) : [...pinned, id],
      }),
      up: () => ({ order: moved(shown, id, -1) }),
      down: () => ({ order: moved(shown, id, 1) }),
    };
    this.go(changes[does](), { replace: true });
  }

  /** Open what a search found. @param {any} hit */
  openHit(hit) {
    if (hit === undefined) return;
    const link = this.hitLink(hit);
    this.show('');
    this.world.follow(link);
  }

  /** @param {KeyboardEvent} event @param {number} count */
  chooseHit(event, count) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined || count === 0) return;
    event.preventDefault();
    this.set({ hit: (this.ui.hit + by + count) % count });
  }

  /** Copy what the view shows, as Markdown. */
  async copy() {
    const { place, answers } = this;
    const isOpened = place.entry !== '' && answers.of('entry').data?.entry;
    const part = partOf(isOpened ? 'evidence' : place.view);
    if (part?.markdownOf) {
      await this.copyText(part.markdownOf(this));
    } else if (place.view === 'node' || place.view === 'workload') {
      const report = await this.report();
      if (report) await this.copyText(report.markdown);
    } else await this.copyText(location.href);
  }

  /** Close the dialog, and copy the text. @param {string | null} text null: Markdown */
  async handOver(text) {
    this.show('');
    await (text === null ? this.copy() : this.copyText(text));
  }

  /** Save the report as one file that loads nothing. */
  async save() {
    const report = await this.report();
    if (!report) return;
    this.world.save(`postmortem-${this.place.name}.html`, report.html);
    this.set({ said: 'Saved the postmortem.' });
  }

  /** Request the report of the open verdict or ending, or of the window. */
  async report() {
    const { place } = this;
    const isNode = place.view === 'node';
    const open = isNode ? this.openVerdict : this.openEnding;
    const { from, to } = isNode ? this.nodeWindow : this.workloadWindow;
    const variables = {
      log: this.known?.log ?? null,
      subject: open?.id ?? nameOf(isNode ? { ...place, kind: 'node' } : place),
      ofWorkload: !isNode,
      since: open ? null : writeShort(from),
      until: open ? null : writeShort(to),
    };
    try {
      return (await this.world.post(POSTMORTEM, variables)).postmortem;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.set({ said: `Could not create the report: ${why}.` });
      return null;
    }
  }

  /** @param {string} text */
  async copyText(text) {
    const isCopied = await this.world.copy(text);
    this.set({
      said: isCopied ? 'Copied.' : 'The browser blocked copying.',
    });
  }
}

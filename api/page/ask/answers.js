/**
 * Requests and their answers: one slot for each part of the page.
 *
 * A slot keeps its last answer while the next one is loading or has failed, so
 * that the screen never goes blank; a failed request is retried automatically,
 * with increasing delays.
 *
 * @typedef {{slot: string, query: string,
 *   variables: Record<string, unknown>, every?: number, patience?: number,
 *   isAside?: boolean}} Need a view is shown without the answers of asides;
 *   times are milliseconds
 * @typedef {{data: any, key: string, dataKey: string, isAsking: boolean,
 *   error: string, code: string, isFinal: boolean, answeredAt: number,
 *   tries: number}} Answer
 *   `isFinal` says that a retry would change nothing
 */

import { AskError } from './post.js';

const RETRY_FIRST = 1000;
const RETRY_LAST = 30_000;
const SLOTS_MAX = 40;

/** @type {Answer} */
const NOTHING = Object.freeze({
  data: null,
  key: '',
  dataKey: '',
  isAsking: false,
  error: '',
  code: '',
  isFinal: false,
  answeredAt: 0,
  tries: 0,
});

/** Answers by slot. */
export class Answers {
  /**
   * @param {{post: (query: string, variables: Record<string, unknown>,
   *   signal: AbortSignal, patience?: number) => Promise<any>, changed: () => void,
   *   now: () => number, later: (does: () => void, wait: number) => number,
   *   forget: (timer: number) => void}} world
   */
  constructor(world) {
    this.world = world;
    /** @type {Map<string, Answer>} */
    this.slots = new Map();
    /** @type {Map<string, AbortController>} */
    this.asked = new Map();
    /** @type {Map<string, number>} */
    this.timers = new Map();
    /** @type {Map<string, Need>} */
    this.needs = new Map();
  }

  /**
   * The last answer of a slot.
   * @param {string} slot
   * @returns {Answer}
   */
  of(slot) {
    return this.slots.get(slot) ?? NOTHING;
  }

  /** Whether anything is loading. */
  get isAsking() {
    return this.asked.size > 0;
  }

  /**
   * Set what the page needs now. What is no longer needed is not requested.
   * @param {Need[]} needs
   */
  want(needs) {
    this.needs = new Map(needs.map((need) => [need.slot, need]));
    for (const slot of [...this.asked.keys(), ...this.timers.keys()]) {
      if (!this.needs.has(slot)) this.#stop(slot);
    }
    for (const need of needs) {
      const { key, dataKey, isFinal } = this.of(need.slot);
      const isIdle = !this.asked.has(need.slot) && !this.timers.has(need.slot);
      const isOpen = isIdle && !isFinal && dataKey !== keyOf(need);
      if (key !== keyOf(need) || isOpen) this.#ask(need);
    }
  }

  /**
   * Request a slot again, because something new was recorded.
   * @param {string} slot
   */
  refresh(slot) {
    const need = this.needs.get(slot);
    if (need !== undefined && !this.asked.has(slot)) this.#ask(need);
  }

  /** Retry at once what has failed. */
  retry() {
    for (const need of this.needs.values()) {
      if (this.of(need.slot).error !== '') this.#ask(need);
    }
  }

  /** @param {Need} need */
  #ask(need) {
    const { slot } = need;
    this.#stop(slot);
    const asking = new AbortController();
    this.asked.set(slot, asking);
    const key = keyOf(need);
    this.#put(slot, { ...this.of(slot), key, isAsking: true });
    this.world
      .post(need.query, need.variables, asking.signal, need.patience)
      .then((data) => this.#answered(need, asking, data))
      .catch((error) => this.#failed(need, asking, error));
  }

  /** @param {Need} need @param {AbortController} asking @param {any} data */
  #answered(need, asking, data) {
    if (this.asked.get(need.slot) !== asking) return;
    this.asked.delete(need.slot);
    const key = keyOf(need);
    const answeredAt = this.world.now();
    this.#put(need.slot, { ...NOTHING, data, key, dataKey: key, answeredAt });
    if (need.every !== undefined) this.#askLater(need, need.every);
    this.world.changed();
  }

  /** @param {Need} need @param {AbortController} asking @param {unknown} why */
  #failed(need, asking, why) {
    if (this.asked.get(need.slot) !== asking) return;
    this.asked.delete(need.slot);
    const { message, code, isFinal } =
      why instanceof AskError ? why : new AskError(String(why));
    const last = this.of(need.slot);
    const tries = last.tries + 1;
    this.#put(need.slot, {
      ...last, isAsking: false, error: message, code, isFinal, tries,
    });
    if (!isFinal) {
      const wait = Math.min(RETRY_FIRST * 2 ** (tries - 1), RETRY_LAST);
      this.#askLater(need, wait);
    }
    this.world.changed();
  }

  /** @param {Need} need @param {number} wait */
  #askLater(need, wait) {
    const timer = this.world.later(() => {
      this.timers.delete(need.slot);
      this.#ask(need);
    }, wait);
    this.timers.set(need.slot, timer);
  }

  /** @param {string} slot */
  #stop(slot) {
    this.asked.get(slot)?.abort();
    this.asked.delete(slot);
    const timer = this.timers.get(slot);
    if (timer !== undefined) this.world.forget(timer);
    this.timers.delete(slot);
  }

  /** @param {string} slot @param {Answer} answer */
  #put(slot, answer) {
    this.slots.delete(slot);
    this.slots.set(slot, answer);
    for (const old of this.slots.keys()) {
      if (this.slots.size <= SLOTS_MAX) break;
      if (!this.needs.has(old)) this.slots.delete(old);
    }
  }
}

/** @param {Need} need */
const keyOf = ({ query, variables }) => JSON.stringify([query, variables]);

/**
 * Listens to a subscription: server-sent events in the answer to a POST.
 *
 * `EventSource` can only GET, so the few rules of its format are here.
 */

import { proof } from './token.js';

const WAIT_FIRST = 1000;
const WAIT_LAST = 30_000;
/** The server sends something every 15 seconds; silence means it is down. */
const SILENCE_MAX = 45_000;
const BUFFER_MAX = 8_000_000;

/**
 * Cut events out of the text of a stream.
 * @param {string} text what came since the last event
 * @returns {{events: {name: string, data: string}[], rest: string}}
 */
export function eventsIn(text) {
  const blocks = text.replaceAll('\r\n', '\n').split('\n\n');
  const rest = blocks.pop() ?? '';
  const events = [];
  for (const block of blocks) {
    let name = 'message';
    const data = [];
    for (const line of block.split('\n')) {
      if (line.startsWith('event:')) name = line.slice(6).trim();
      else if (line.startsWith('data:')) data.push(line.slice(5).trimStart());
    }
    if (data.length > 0 || name !== 'message') {
      events.push({ name, data: data.join('\n') });
    }
  }
  return { events, rest };
}

/**
 * @typedef {{next: (data: any) => void, state: (isLive: boolean) => void,
 *   refused: (errors: any[]) => void}} Hands
 */

/**
 * Listen until stopped, and reconnect whenever the stream ends.
 * @param {{query: string, variables: () => Record<string, unknown>}} asked
 * @param {Hands} to
 * @param {AbortSignal} signal
 */
export async function listen(asked, to, signal) {
  let wait = WAIT_FIRST;
  while (!signal.aborted) {
    try {
      await once(asked, {
        ...to,
        next: (data) => {
          wait = WAIT_FIRST;
          to.next(data);
        },
      }, signal);
    } catch {
      // Every failure is handled the same: report it, wait, reconnect.
    }
    to.state(false);
    await pause(wait, signal);
    wait = Math.min(wait * 2, WAIT_LAST);
  }
}

/**
 * @param {{query: string, variables: () => Record<string, unknown>}} asked
 * @param {Hands} to
 * @param {AbortSignal} outer
 */
async function once(asked, to, outer) {
  const silence = new AbortController();
  const signal = AbortSignal.any([outer, silence.signal]);
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
      ...proof(),
    },
    body: JSON.stringify({ query: asked.query, variables: asked.variables() }),
    signal,
  });
  if (!response.ok || response.body === null) return;
  to.state(true);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const timer = setTimeout(() => silence.abort(), SILENCE_MAX);
    const { value, done } = await reader.read();
    clearTimeout(timer);
    if (done) return;
    const cut = eventsIn(rest + value);
    rest = cut.rest;
    if (rest.length > BUFFER_MAX) return;
    for (const { name, data } of cut.events) {
      if (name === 'complete') return;
      const answer = data === '' ? null : JSON.parse(data);
      if (answer?.errors) {
        to.refused(answer.errors);
        return;
      }
      if (answer?.data) to.next(answer.data);
    }
  }
}

/** @param {number} wait @param {AbortSignal} signal */
function pause(wait, signal) {
  return new Promise((done) => {
    const timer = setTimeout(done, wait);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      done(undefined);
    }, { once: true });
  });
}

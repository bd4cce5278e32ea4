/** Keeps the page up to date: requests what new facts affect. */

import { FACTS_CAME } from './ask/queries.js';
import { listen } from './ask/stream.js';

/** Facts come in thousands; a person reads once in a while. */
const AGAIN_WAIT = 1500;
/** The prefix of codes of cursors that cannot be continued from. */
const CURSOR = 'question.cursor';

/**
 * Follow a log for as long as it is the one that is looked at: a tape too,
 * which grows while it is played.
 * @param {import('./doing.js').DoingPage} page
 * @returns {() => void} to call whenever the page has changed
 */
export function following(page) {
  let log = '';
  let stop = new AbortController();
  return () => {
    const { known } = page;
    const wanted = known?.log ?? '';
    if (wanted === log) return;
    stop.abort();
    stop = new AbortController();
    log = wanted;
    if (log !== '') follow(page, log, stop.signal);
  };
}

/**
 * @param {import('./doing.js').DoingPage} page
 * @param {string} log
 * @param {AbortSignal} signal
 */
function follow(page, log, signal) {
  let cursor = /** @type {string | null} */ (null);
  let timer = 0;
  const refresh = () => {
    timer = 0;
    for (const slot of [
      'overview', 'incidents', 'jobs', page.nodeSlot, 'endings', 'workload',
    ]) {
      page.answers.refresh(slot);
    }
  };
  const asked = {
    query: FACTS_CAME,
    variables: () => ({ log, after: cursor }),
  };
  const hands = {
    next: (/** @type {any} */ { facts }) => {
      cursor = facts.cursor;
      if (facts.facts.length > 0 && timer === 0) {
        timer = setTimeout(refresh, AGAIN_WAIT);
      }
    },
    refused: (/** @type {any[]} */ errors) => {
      // Facts were derived again, or pruned: request what is shown again too.
      if (errors.some((one) => one.extensions.code.startsWith(CURSOR))) {
        cursor = null;
        refresh();
      }
    },
    state: (/** @type {boolean} */ isLive) => {
      if (!signal.aborted && page.ui.isLive !== isLive) page.set({ isLive });
    },
  };
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  listen(asked, hands, signal);
}

/** What a part of the page says when it has no answer, an old one, or holes. */

import { html } from '../html.js';
import { readInstant } from '../time/instant.js';
import { clock, dayAndClock, zoneName } from '../time/clock.js';
import { counted } from '../words/plain.js';
import { withoutEnd } from '../words/recording.js';

const GAPS_SHOWN = 20;

/**
 * Over an old answer: what failed, and that it is tried again, or what there
 * is not.
 * @param {{answer: import('../ask/answers.js').Answer,
 *   zone: 'utc' | 'local', onRetry: () => void}} given
 */
export function Trouble({ answer, zone, onRetry }) {
  if (answer.error === '') return null;
  const old = answer.data === null
    ? ''
    : ` Showing data from ${clock(answer.answeredAt, zone)}
        ${zoneName(zone, answer.answeredAt)}.`;
  const again = answer.isFinal ? '' : ' Retrying automatically.';
  const says = `${answer.error}${answer.error.endsWith('?') ? '' : '.'}`;
  if (answer.code.startsWith('not_found')) {
    return html`<p class="note trouble" role="alert">${says}${old}</p>`;
  }
  return html`
    <p class="note trouble" role="alert">
      Request failed: ${says}${old}${again}${' '}
      <button type="button" onClick=${onRetry}>Retry</button>
    </p>
  `;
}

/**
 * What may be missing, before anything else is said.
 * @param {{coverage: any, zone: 'utc' | 'local', absent?: string[],
 *   cluster?: string}} given `absent` names sources that were never recorded and
 *   would have shown more; `cluster` if there are several
 */
export function Coverage({ coverage, zone, absent = [], cluster }) {
  if (coverage.complete) {
    return html`<p class="note complete">${
      completeWords(absent, spanWords(coverage, zone))}</p>`;
  }
  const [longest, ...others] = [...coverage.gaps].sort(
    (one, other) => lengthOf(other) - lengthOf(one));
  const count = coverage.gaps.length + coverage.moreGaps;
  const more = count - 1 - Math.min(others.length, GAPS_SHOWN);
  return html`
    <div class="note hatched" role="note">
      <details>
        <summary><strong>The recording ${cluster && `of ${cluster} `}is
          incomplete here:</strong>
          ${' '}what is missing may change this answer.
          ${longest && ` ${counted(count, 'gap')}${
            count > 1 ? ', the longest' : ''}: ${gapWords(longest, zone)}`}</summary>
        <ul>
          ${others.slice(0, GAPS_SHOWN).map((/** @type {any} */ gap) => html`
            <li>${gapWords(gap, zone)}</li>`)}
          ${more > 0 && html`<li>and ${counted(more, 'gap')} more</li>`}
        </ul>
      </details>
    </div>
  `;
}

/**
 * The clusters that are missing here, with the reason.
 * @param {{away: {cluster: string, why: string}[]}} given
 */
export function Away({ away }) {
  return away.map(({ cluster, why }) => html`
    <div key=${cluster} class="note hatched" role="note">
      <strong>${cluster} is away:</strong> ${why}. Nothing of it is shown here.
    </div>
  `);
}

/**
 * The answer is only called complete if no other source would have shown more,
 * and with the time span that was requested.
 * @param {string[]} absent
 * @param {string} span
 * @returns {string}
 */
export function completeWords(absent, span) {
  if (absent.length === 0) {
    return `Complete${span}: no gaps affect this answer.`;
  }
  return `No gaps in what was recorded${span}. Not recorded: ${
    absent.join(', ')}, which would show more.`;
}

/**
 * The time that a coverage is about.
 * @param {any} coverage
 * @param {'utc' | 'local'} zone
 * @returns {string}
 */
function spanWords({ since, until }, zone) {
  const from = readInstant(since ?? '');
  const to = readInstant(until ?? '');
  const begin = from === null ? '' : ` from ${dayAndClock(from, zone)}`;
  return to === null ? begin : `${begin} until ${dayAndClock(to, zone)}`;
}

/** @param {any} gap */
function lengthOf({ from, to }) {
  const end = readInstant(to ?? '') ?? Infinity;
  return end - (readInstant(from ?? '') ?? 0);
}

/**
 * A gap in words.
 * @param {any} gap
 * @param {'utc' | 'local'} zone
 * @returns {string}
 */
function gapWords(gap, zone) {
  const from = readInstant(gap.from ?? '');
  const to = readInstant(gap.to ?? '');
  const since = from === null ? 'from the beginning' : dayAndClock(from, zone);
  const until = to === null ? withoutEnd(gap.reason)
    : `until ${clock(to, zone)}`;
  const what = gap.resource ?? 'all resources';
  return `${what}: ${since}, ${until}; ${gap.reason}`;
}

/**
 * Nothing here: what was looked for, and what lies nearest.
 * @param {{says: string, links: {href: string, says: string}[]}} given
 */
export function Empty({ says, links }) {
  return html`
    <div class="empty">
      <p>${says}</p>
      <ul>
        ${links.map(({ href, says: text }) => html`
          <li><a href=${href}>${text}</a></li>
        `)}
      </ul>
    </div>
  `;
}

/**
 * The frame of what is on its way: lines where lines will be.
 * @param {{lines: number, says: string}} given
 */
export function Waiting({ lines, says }) {
  return html`
    <div class="waiting" role="status">
      <span class="hidden">${says}</span>
      ${Array.from({ length: lines }, (_, place) => html`
        <div key=${place} aria-hidden="true"></div>
      `)}
    </div>
  `;
}

/**
 * A number with the words that it is a number of.
 * @param {{value: string, says: string}} given
 */
export function Figure({ value, says }) {
  return html`<div class="figure"><b>${value}</b> <span>${says}</span></div>`;
}

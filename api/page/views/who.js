/** Who changed each field of an object last, and what says so. */

import { html } from '../html.js';
import { readInstant } from '../time/instant.js';
import { clock, dayAndClock, zoneName } from '../time/clock.js';
import { authorName, knownBy } from '../words/author.js';
import { Trouble } from './states.js';

/** @param {{page: import('../page.js').Page}} given */
export function Who({ page }) {
  const answer = page.answers.of('who');
  const who = answer.data?.object?.who ?? null;
  const { zone } = page.place;
  if (who === null) {
    return answer.isFinal ? null : html`<${Trouble} answer=${answer}
      zone=${zone} onRetry=${() => page.answers.retry()} />`;
  }
  const first = readInstant(who.entry.observedAt) ?? 0;
  return html`
    <details class="who">
      <summary>Last change of each field</summary>
      ${who.created && html`<p class="quiet">Created by
        ${' '}${authorName(who.created)}, ${knownBy(who.created)}.</p>`}
      ${who.deleted && html`<p class="quiet">Deleted by
        ${' '}${authorName(who.deleted)}, ${knownBy(who.deleted)}.</p>`}
      <table>
        <thead><tr>
          <th scope="col">Field</th>
          <th scope="col">Changed, ${zoneName(zone, first)}</th>
          <th scope="col">By</th><th scope="col">Known by</th>
          <th scope="col">Entry</th>
        </tr></thead>
        <tbody>${who.fields.map((/** @type {any} */ field) => html`
          <${Field} key=${field.path} page=${page} field=${field} />`)}</tbody>
      </table>
    </details>
  `;
}

/** @param {{page: import('../page.js').Page, field: any}} given */
function Field({ page, field }) {
  const { entry, author } = field;
  const { zone } = page.place;
  const at = readInstant(entry.observedAt) ?? 0;
  const name = author.entry ?? entry.name;
  return html`
    <tr>
      <td><code class="path">${field.path}</code>
        ${field.change === 'REMOVED' && ' removed'}</td>
      <td><time title=${dayAndClock(at, zone)}>${clock(at, zone)}</time></td>
      <td>${authorName(author)}</td>
      <td>${knownBy(author)}</td>
      <td><a class="code" href=${page.keep({ entry: name })}>${name}</a></td>
    </tr>
  `;
}

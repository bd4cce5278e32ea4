/** What a list over many clusters does not show: logs, and gaps in them. */

import { html } from '../html.js';
import { counted } from '../words/plain.js';
import { ALL } from '../words/recording.js';
import { Coverage } from './states.js';

/**
 * Which clusters are not on this page, and where they are.
 * @param {{page: import('../page.js').Page}} given
 */
export function LeftOut({ page }) {
  const { page: shown, first, last, count, hasNext, tapes } = page.leftOut;
  const { place } = page;
  if (count === 0) return null;
  return html`
    ${(hasNext || first > 1) && html`<p class="note hatched" role="note">
      Clusters ${first} to ${last} of ${count}.
      ${first > 1 && html` <a href=${page.keep({ page: shown - 1 })}
        >Previous clusters</a>`}
      ${hasNext && html` <a href=${page.keep({ page: shown + 1 })}
        >Next clusters</a>`}</p>`}
    ${tapes > 0 && html`<p class="quiet" role="note">
      ${counted(tapes, 'other log')} not shown: ${page.fleetLogs[0].kind === 'TAPE'
        ? html`<a href=${page.href({ view: place.view, log: ALL })}>show all</a>,
          or choose one above.` : 'choose one above.'}</p>`}
  `;
}

/**
 * The logs whose answers may lack something; several are put together.
 * @param {{logs: {known: any, found: any}[], zone: 'utc' | 'local'}} given
 */
export function Holes({ logs, zone }) {
  const holes = logs.filter(({ found }) => found && !found.coverage.complete);
  const notes = holes.map(({ found, known }) => html`<${Coverage}
    key=${known.log} coverage=${found.coverage} zone=${zone}
    cluster=${logs.length > 1 ? known.name : undefined} />`);
  if (notes.length < 2) return notes;
  return html`<div class="note hatched" role="note"><details>
    <summary><strong>The recording of ${counted(notes.length, 'cluster')} is
      incomplete here:</strong> what is missing may change this
      answer.</summary>${notes}</details></div>`;
}

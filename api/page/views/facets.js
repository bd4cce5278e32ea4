/** What the items of a list have in common: counted, to choose by. */

import { html } from '../html.js';
import { hasWord, NONE, toggled } from '../words/filter.js';
import { counted } from '../words/plain.js';

/** Of a facet; the rest is found by typing. */
const WORDS_SHOWN = 8;

/**
 * @param {{page: import('../page.js').Page,
 *   facets: {facet: string, title: string, prefix: string}[],
 *   counts: Record<string, {word: string, count: number}[]>,
 *   children?: any}} given
 */
export function Facets({ page, facets, counts, children }) {
  const { hasFacets } = page.ui;
  return html`
    <aside class="facets ${hasFacets ? 'shown' : ''}" aria-label="Narrow down">
      <button type="button" aria-expanded=${hasFacets}
        onClick=${() => page.set({ hasFacets: !hasFacets })}>
        Narrow down${children && ' and group'}</button>
      <div class="inside">
        ${children}
        ${facets.map(({ facet, ...given }) => html`
          <${Facet} key=${facet} page=${page} ...${given}
            counts=${counts[facet] ?? []} />`)}
      </div>
    </aside>
  `;
}

/**
 * @param {{page: import('../page.js').Page, title: string, prefix: string,
 *   counts: {word: string, count: number}[]}} given
 */
function Facet({ page, title, prefix, counts }) {
  const { filter } = page.place;
  if (counts.every(({ word }) => word === NONE)) return null;
  const shown = counts.slice(0, WORDS_SHOWN);
  const left = counts.length - shown.length;
  return html`
    <section aria-label=${title}>
      <h3>${title}</h3>
      <ul>${shown.map(({ word, count }) => {
        const asked = prefix + word;
        const isChosen = hasWord(filter, asked);
        return html`
          <li key=${word}><a class=${isChosen ? 'chosen' : ''} title=${word}
            href=${page.keep({ filter: toggled(filter, asked) })}>
            <span>${isChosen ? '✕ ' : ''}${word}</span>
            <b>${count}</b></a></li>`;
      })}</ul>
      ${left > 0 && html`<p class="quiet">and ${counted(left, 'other')}</p>`}
    </section>
  `;
}

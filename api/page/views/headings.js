/** The headings of a list: each sorts it. */

import { html } from '../html.js';
import { nextOrder, orderOf } from '../ordering.js';

/** @param {{page: import('../page.js').Page,
 *   columns: import('../ordering.js').Column[]}} given */
export function Headings({ page, columns }) {
  const { sort } = page.place;
  const now = orderOf(columns, sort);
  return html`
    <thead><tr>${columns.map(({ id, title }) => {
      const isSorted = now.id === id;
      const order = isSorted && (now.isDown ? 'descending' : 'ascending');
      const mark = isSorted && (now.isDown ? ' ↓' : ' ↑');
      return html`<th key=${id} scope="col" aria-sort=${order || null}>
        <a href=${page.keep({ sort: nextOrder(columns, sort, id) })}
          >${title}${mark}</a></th>`;
    })}</tr></thead>
  `;
}

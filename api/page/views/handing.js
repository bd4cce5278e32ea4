/** What a view is taken elsewhere by: links out of it, and copies of it. */

import { LINKS } from '../ask/oflinks.js';
import { html } from '../html.js';
import { commandOf, fieldsOf, linkOf, queryOf } from '../words/copying.js';
import { Dialog } from './overlays.js';

/** What the dialog requests. */
export const needsOf = () => [
  { slot: 'links', query: LINKS, variables: {}, isAside: true },
];

/** @param {{page: import('../doing.js').DoingPage}} given */
export function Handing({ page }) {
  const { place, cluster, openVerdict } = page;
  const verdict = place.view === 'node' ? openVerdict : null;
  const log = cluster?.log.id ?? '';
  const fields = fieldsOf(place, {
    log, cluster: cluster?.name ?? '', verdict, window: page.window,
  });
  const links = (page.answers.of('links').data?.links ?? []).flatMap(
    (/** @type {any} */ { name, url }) => {
      const href = linkOf(url, fields);
      return href === null ? [] : [{ name, href }];
    });
  const copies = /** @type {[string, string][]} */ ([
    ['Link', location.href],
    ['Command', commandOf(place, { log, verdict })],
    ['GraphQL', queryOf(page.needs)],
  ]);
  return html`
    <${Dialog} page=${page} label="Copy and links">
      <h2>Copy</h2>
      <ul class="copies">
        ${copies.map(([name, text]) => html`
          <li key=${name}><button type="button"
            onClick=${() => page.handOver(text)}>${name}</button>
            ${' '}<code>${text.split('\n')[0]}</code></li>`)}
        <li><button type="button" onClick=${() => page.handOver(null)}>
          Markdown</button></li>
      </ul>
      ${links.length > 0 && html`
        <h2>Open</h2>
        <ul class="copies">${links.map(({ name, href }) => html`
          <li key=${name}><a href=${href} target="_blank"
            rel="noopener noreferrer">${name}</a></li>`)}</ul>`}
    <//>
  `;
}

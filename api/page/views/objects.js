/** The objects that the facts of a window are about. */

import { html } from '../html.js';
import { counted, objectName } from '../words/plain.js';

const OBJECTS_SHOWN = 60;

/** @param {{page: import('../page.js').Page, timeline: any}} given */
export function Objects({ page, timeline }) {
  const counts = new Map();
  for (const { object } of timeline.facts) {
    if (object === null) continue;
    const name = objectName(object);
    const known = counts.get(name) ?? { object, count: 0 };
    known.count += 1;
    counts.set(name, known);
  }
  const most = [...counts.entries()]
    .sort(([, one], [, other]) => other.count - one.count);
  const left = most.length - OBJECTS_SHOWN;
  return html`
    <section id="objects" aria-labelledby="objects-title">
      <h2 id="objects-title">Objects</h2>
      <ul class="objects long">
        ${most.slice(0, OBJECTS_SHOWN).map(([name, { object, count }]) => html`
          <li key=${name}><a href=${page.objectLink(object)}>${name}</a>
            ${' '}<small>${counted(count, 'fact')}</small></li>
        `)}
      </ul>
      ${left > 0 && html`<p class="quiet">and ${counted(left, 'object')}
        more: zoom in to see them.</p>`}
    </section>
  `;
}

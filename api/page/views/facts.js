/** The facts of a window as a list: what the canvas shows, to read. */

import { html } from '../html.js';
import { light } from '../lighting.js';
import { readInstant } from '../time/instant.js';
import { clock, zoneName } from '../time/clock.js';
import { counted, objectName, prose } from '../words/plain.js';

/** More is a matter for a narrower window. */
const FACTS_SHOWN = 500;

/** @param {{page: import('../page.js').Page, timeline: any}} given */
export function Facts({ page, timeline }) {
  const { place } = page;
  const inWindow = page.factsInWindow;
  const shown = inWindow.slice(0, FACTS_SHOWN);
  const left = inWindow.length - shown.length + timeline.moreFacts;
  return html`
    <section id="facts" aria-labelledby="facts-title">
      <h2 id="facts-title">Facts
        <small>${counted(inWindow.length, 'fact')} in the window, in log
          order</small></h2>
      <div class="long">
      <table class="facts stacked">
        <thead><tr>
          <th scope="col">${zoneName(place.zone, page.nodeWindow.from)}</th>
          <th scope="col">Fact</th>
          <th scope="col">Actor</th>
          <th scope="col">Object</th>
          <th scope="col">Entry</th>
        </tr></thead>
        <tbody>
          ${shown.map((/** @type {any} */ fact, /** @type {number} */ n) => html`
            <${FactRow} key="${fact.entry} ${fact.index}" page=${page}
              fact=${fact} isChosen=${page.ui.chosen === n}
              isUnknown=${fact.kind === 'CLAIMED'
                && timeline.unknownTypes.includes(fact.type)} />
          `)}
        </tbody>
      </table></div>
      ${left > 0 && html`<p class="note">${counted(left, 'fact')} more: zoom
        in to see them.</p>`}
    </section>
  `;
}

/** @param {{page: import('../page.js').Page, fact: any,
 *   isChosen: boolean, isUnknown: boolean}} given */
function FactRow({ page, fact, isChosen, isUnknown }) {
  const { zone, entry } = page.place;
  const isOpen = isChosen || entry === fact.entry;
  return html`
    <tr class=${isOpen ? 'chosen' : ''} data-entries=${fact.entry}
      onMouseEnter=${() => light(fact.entry)}
      onMouseLeave=${() => light(null)}>
      <td><time>${clock(readInstant(fact.at) ?? 0, zone)}</time></td>
      <td class="whole"><span class="kind">${prose(fact.kind)}</span> ${fact.says}${
        isUnknown ? ' (unknown type)' : ''}</td>
      <td data-name=${fact.actor && 'by'}>${fact.actor ?? ''}</td>
      <td>${fact.object && html`
        <a href=${page.objectLink(fact.object)}>${objectName(fact.object)}</a>`}
      </td>
      <td><a class="code" href=${page.keep({ entry: fact.entry })}
        >${fact.entry}</a></td>
    </tr>
  `;
}

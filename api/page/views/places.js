/** The places: what is behind each, and what happened at one. */

import { html } from '../html.js';
import { nameOf } from '../needs.js';
import { ofPlaces } from '../needs/places.js';
import { dayAndClock } from '../time/clock.js';
import { readInstant } from '../time/instant.js';
import { counted, prose } from '../words/plain.js';
import { Coverage, Empty, Trouble, Waiting } from './states.js';

/** What the view requests. */
export const needsOf = ofPlaces;

const NODES_SHOWN = 8;

/** @param {{page: import('../page.js').Page}} given */
export function Places({ page }) {
  const name = nameOf(page.place);
  const answer = page.answers.of(name === '' ? 'places' : `place ${name}`);
  const { data, error } = answer;
  return html`
    <section class="places" aria-labelledby="title">
      <div class="title"><h1 id="title">${name === '' ? 'Places'
        : html`<small>Place</small> ${name}`}</h1></div>
      <${Trouble} answer=${answer} zone=${page.place.zone}
        onRetry=${() => page.answers.retry()} />
      ${data === null
        ? error === '' && html`<${Waiting} lines=${6} says="Loading places" />`
        : name === ''
          ? html`<${All} page=${page} found=${data.places} />`
          : html`<${One} page=${page} place=${data.place}
              incidents=${data.incidents.nodes} />`}
    </section>
  `;
}

/** @param {{page: import('../page.js').Page, found: any}} given */
function All({ page, found }) {
  const { places = [], conflicts = [] } = found ?? {};
  if (places.length === 0) {
    return html`<${Empty} says="No node names a place, by labels or claims."
      links=${[]} />`;
  }
  return html`
    <${Coverage} coverage=${found.coverage} zone=${page.place.zone} />
    <table class="stacked">
      <thead><tr><th scope="col">Place</th>
        <th scope="col" class="number">Nodes</th>
        <th scope="col">Behind it</th></tr></thead>
      <tbody>${places.map((/** @type {any} */ { name, nodes }) => html`
        <tr key=${name}>
          <td class="whole"><${Named} page=${page} name=${name} /></td>
          <td class="number" data-name="nodes">${nodes.length}</td>
          <td>${namesOf(nodes)}</td></tr>`)}</tbody>
    </table>
    ${conflicts.length > 0 && html`
      <h2>Contradictions</h2>
      <ul>${conflicts.map((/** @type {any} */ one) => html`
        <li>${one.node}: ${one.holds} by ${one.holdsBy}; ${one.other} by
          ${' '}${one.otherBy}, which is older</li>`)}</ul>`}
  `;
}

/** @param {{claims: number}[]} minutes */
const often = (minutes) => minutes.reduce((sum, one) => sum + one.claims, 0);

/** @param {{claims: number}[]} minutes */
const most = (minutes) => Math.max(...minutes.map((one) => one.claims));

/** @param {string[]} nodes */
function namesOf(nodes) {
  const more = nodes.length - NODES_SHOWN;
  return [...nodes.slice(0, NODES_SHOWN), ...(more > 0 ? [`${more} more`] : [])]
    .join(', ');
}

/** @param {{page: import('../page.js').Page, name: string}} given */
function Named({ page, name }) {
  const [kind, ...rest] = name.split('/');
  const to = kind === 'node' ? { view: /** @type {const} */ ('node') }
    : { view: /** @type {const} */ ('places'), kind };
  return html`<a href=${page.href({ ...to, name: rest.join('/') })}>${name}</a>`;
}

/** @param {{page: import('../page.js').Page, place: any, incidents: any[]}} given */
function One({ page, place, incidents }) {
  const { zone } = page.place;
  const at = (/** @type {string | null} */ text, /** @type {string} */ none) => {
    const instant = readInstant(text ?? '');
    return instant === null ? none : dayAndClock(instant, zone);
  };
  if (place === null) {
    return html`<${Empty} says="Nothing was behind it in this window, and
      nothing was claimed of it." links=${[
    { href: page.href({ view: 'places' }), says: 'All places' }]} />`;
  }
  return html`
    <${Coverage} coverage=${place.coverage} zone=${zone} />
    <h2>What happened there</h2>
    ${incidents.length === 0
      ? html`<p>${place.claims.length === 0 ? 'No incidents.'
        : 'Claims, and no incident of a node behind it.'}</p>`
      : html`<ol class="happened">${incidents.map((one) => html`
          <li key=${one.id}><a href=${page.incidentLink(one)}>${one.sentence}</a>
            ${' '}<small>${prose(one.cause)}, ${at(one.from, '')}</small></li>`)}
        </ol>`}
    <h2>What was claimed of it</h2>
    ${place.claims.length === 0 ? html`<p>Nothing.</p>` : html`
      <ul class="claims">${place.claims.map((/** @type {any} */ one) => html`
        <li key=${one.entry}><a href=${page.keep({ entry: one.entry })}
          >${at(one.at, '')}</a> ${one.says}${
            one.isKnown ? '' : ' (unknown type)'}</li>`)}</ul>`}
    ${often(place.minutes) > place.claims.length && html`
      <p class="quiet">${counted(often(place.minutes), 'claim')} in all, in
        ${' '}${counted(place.minutes.length, 'minute')}, at most
        ${' '}${most(place.minutes)} in one.</p>`}
    <h2>What is behind it</h2>
    <table class="stacked">
      <thead><tr><th scope="col">Place</th><th scope="col">From</th>
        <th scope="col">Until</th><th scope="col">Shown by</th></tr></thead>
      <tbody>${place.relations.map((/** @type {any} */ one) => html`
        <tr key="${one.child} ${one.from}">
          <td class="whole"><${Named} page=${page} name=${one.child} />${
            one.relation === 'behind' ? '' : ` (${one.relation})`}</td>
          <td data-name="from">${at(one.from, 'before')}</td>
          <td data-name="until">${at(one.to, 'now')}</td>
          <td data-name="shown by">${one.witness}</td></tr>`)}</tbody>
    </table>
    ${place.undated > 0 && html`<p class="quiet">and ${
      counted(place.undated, 'node')} more.</p>`}
  `;
}

/** An object of any kind: its versions, who wrote, any two compared. */

import { html } from '../html.js';
import { ofObject } from '../needs/object.js';
import { readInstant } from '../time/instant.js';
import { clock, dayAndClock, zoneName } from '../time/clock.js';
import { authorName } from '../words/author.js';
import { counted, prose } from '../words/plain.js';
import { Changes } from './evidence.js';
import { Coverage, Trouble, Waiting } from './states.js';
import { Who } from './who.js';

/** What the view requests. */
export const needsOf = ofObject;

const PATHS_SHOWN = 4;

/** @param {{page: import('../page.js').Page}} given */
export function KubernetesObject({ page }) {
  const { place } = page;
  const answer = page.answers.of('object');
  const object = answer.data?.object ?? null;
  const isOld = answer.error !== '' || answer.key !== answer.dataKey;
  return html`
    <section class="object" aria-labelledby="title">
      <div class="title">
        <h1 id="title"><small>${place.kind}</small>
          ${' '}${place.namespace && `${place.namespace}/`}${place.name}</h1>
        <div class="does">
          ${place.kind.toLowerCase() === 'node' && html`
            <a class="button" href=${page.href({ view: 'node',
              name: place.name })}>Why and timeline</a>`}
          <button type="button" onClick=${() => page.copy()}>
            Copy as Markdown</button>
        </div>
      </div>
      <${Trouble} answer=${answer} zone=${place.zone}
        onRetry=${() => page.answers.retry()} />
      ${object === null
        ? answer.error === '' && html`<${Waiting} lines=${6}
            says="Loading versions" />`
        : html`<div class=${isOld ? 'old' : ''}>
            <${Story} page=${page} object=${object} /></div>`}
    </section>
  `;
}

/** @param {{page: import('../page.js').Page, object: any}} given */
function Story({ page, object }) {
  const { versions } = object;
  // An Event about it may not say which incarnation it means.
  const uids = object.uids.filter(Boolean);
  const newest = [...versions.nodes].reverse();
  const { zone } = page.place;
  return html`
    ${!versions.coverage.complete
      && html`<${Coverage} coverage=${versions.coverage} zone=${zone} />`}
    <p class="quiet">
      ${counted(versions.nodes.length, 'version')}
      ${uids.length > 1 && `, ${uids.length} incarnations with this name`}
      ${versions.heartbeats && `, ${counted(versions.heartbeats.count,
        'heartbeat')} counted instead of stored`}.
      Choose two versions to compare them.
    </p>
    <${Compared} page=${page} />
    <${Versions} page=${page} versions=${newest} />
    ${versions.pageInfo.hasPreviousPage && html`
      <button type="button" class="more" onClick=${() => page.older()}>
        Older versions</button>`}
    <${Who} page=${page} />
    <${Document} page=${page} />
  `;
}

/** @param {{page: import('../page.js').Page, versions: any[]}} given */
function Versions({ page, versions }) {
  const { zone } = page.place;
  const first = readInstant(versions[0]?.entry.observedAt ?? '') ?? 0;
  return html`
    <table class="versions stacked">
      <thead><tr>
        <th scope="col">Compare</th>
        <th scope="col">Observed, ${zoneName(zone, first)}</th>
        <th scope="col">Operation</th><th scope="col">Writers</th>
        <th scope="col">Changed fields</th><th scope="col">Entry</th>
      </tr></thead>
      <tbody>${versions.map((version) => html`
        <${VersionRow} key=${version.entry.name} page=${page}
          version=${version} />`)}</tbody>
    </table>
  `;
}

/** @param {{page: import('../page.js').Page, version: any}} given */
function VersionRow({ page, version }) {
  const { entry, writers, author, changed } = version;
  const by = author.knownBy === 'AUDIT' ? authorName(author)
    : writers.map((/** @type {any} */ one) => one.name).join(', ');
  const { place } = page;
  const at = readInstant(entry.observedAt) ?? 0;
  const paths = changed.map((/** @type {any} */ change) => change.path);
  const more = paths.length - PATHS_SHOWN;
  return html`
    <tr class=${place.entry === entry.name ? 'chosen' : ''}>
      <td class="choose">
        ${/** @type {const} */ (['left', 'right']).map((side) => html`
          <input type="radio" name=${side} checked=${place[side] === entry.name}
            aria-label="${side === 'left' ? 'From' : 'To'} ${entry.name}"
            onChange=${() => page.go({ [side]: entry.name })} />`)}
      </td>
      <td><time title=${dayAndClock(at, place.zone)}
        >${clock(at, place.zone)}</time></td>
      <td>${prose(entry.operation)}${version.begins
        && version.uidBefore && ', new incarnation'}</td>
      <td data-name=${by ? 'by' : null}>${by}</td>
      <td class="whole">
        ${paths.slice(0, PATHS_SHOWN).map((/** @type {string} */ path) => html`
        <code class="path">${path}</code> `)}
        ${more > 0 && html`<small>and ${more} more</small>`}</td>
      <td><a class="code" href=${page.keep({ entry: entry.name })}
        >${entry.name}</a></td>
    </tr>
  `;
}

/** @param {{page: import('../page.js').Page}} given */
function Compared({ page }) {
  const { left, right, zone } = page.place;
  if (left === '' || right === '') return null;
  const answer = page.answers.of('difference');
  const diff = answer.data?.object?.diff ?? null;
  return html`
    <section class="compared" aria-label="Compared">
      <h2>${left} compared with ${right}</h2>
      <${Trouble} answer=${answer} zone=${zone}
        onRetry=${() => page.answers.retry()} />
      ${diff && html`
        <p class="quiet">${diff.outcome}</p>
        <${Changes} changed=${diff.changed} previous=${diff.from}
          page=${page} />`}
    </section>
  `;
}

/** @param {{page: import('../page.js').Page}} given */
function Document({ page }) {
  const { place } = page;
  const answer = page.answers.of('document');
  const shown = answer.data?.object?.at ?? null;
  return html`
    <section class="document" aria-labelledby="document-title">
      <h2 id="document-title">Document at a time</h2>
      <form onSubmit=${(/** @type {any} */ event) => {
        event.preventDefault();
        page.goTo(event.target.elements.time.value);
      }}>
        <label>Time ${' '}
          <input name="time" placeholder="03:14, 2026-11-21T03:14:00Z, 2h"
            autocomplete="off" /></label>
        <button type="submit">Show</button>
      </form>
      ${answer.isFinal
        ? html`<p class="quiet">${answer.error}</p>`
        : html`<${Trouble} answer=${answer} zone=${place.zone}
            onRetry=${() => page.answers.retry()} />`}
      ${shown && !answer.isFinal && html`
        <p class="quiet">Entry ${shown.entry.name}, observed
          ${' '}${dayAndClock(readInstant(shown.entry.observedAt) ?? 0,
            place.zone)}.</p>
        <pre tabindex="0">${JSON.stringify(shown.document, null, 2)}</pre>`}
    </section>
  `;
}

/** The head of the page: which log, how far it is, where to go. */

import { html } from '../html.js';
import { zoneName } from '../time/clock.js';
import { ALL, recordingOf } from '../words/recording.js';

/** Windows that end now, or where a tape does. */
const LASTS = /** @type {const} */ ([
  ['1h', '1 hour'], ['6h', '6 hours'], ['', '24 hours'], ['7d', '7 days'],
  ['30d', '30 days'], ['all', 'all time'],
]);

/** Two sheets, drawn: fonts do without a sign for it. */
const COPY = html`<svg width="13" height="13" viewBox="0 0 13 13"
  aria-hidden="true"><path d="M1 1h8v8H1zM4 9v3h8V4H9" fill="none"
  stroke="currentColor" stroke-width="1.3" /></svg>`;

/** Whether a view is a list over clusters. @param {{view: string}} place */
const isList = ({ view }) => view === 'fleet' || view === 'jobs';

/** @param {{page: import('../page.js').Page}} given */
export function Header({ page }) {
  const { place } = page;
  const now = page.now();
  return html`
    <header class="head">
      <a class="brand" href=${page.href({ view: 'fleet' })}>
        <span class="mark" aria-hidden="true"></span>Recorder</a>
      <nav aria-label="Views">
        <${View} page=${page} view="fleet" name="Fleet" />
        <${View} page=${page} view="jobs" name="Jobs" />
        <${View} page=${page} view="places" name="Places" />
        <${View} page=${page} view="sources" name="Sources" />
      </nav>
      <${Clusters} page=${page} />
      ${isList(place) && html`<${Window} page=${page} />`}
      <span class="room"></span>
      <button type="button" class="search" aria-keyshortcuts="/"
        onClick=${() => page.show('search')}>Search <kbd>/</kbd></button>
      <button type="button" aria-keyshortcuts="u"
        aria-label="Time zone: ${zoneName(place.zone, now)}. Switch"
        onClick=${() => page.switchZone()}>${zoneName(place.zone, now)}</button>
      <button type="button" aria-keyshortcuts="y" aria-label="Copy and links"
        onClick=${() => page.show('hand')}>${COPY}</button>
      <button type="button" aria-keyshortcuts="?" aria-label="Keys"
        onClick=${() => page.show('help')}>?</button>
      <${Recording} page=${page} />
    </header>
  `;
}

/** @param {{page: import('../page.js').Page, view: any, name: string}} given */
function View({ page, view, name }) {
  const isHere = page.place.view === view;
  return html`<a href=${page.href({ view })}
    aria-current=${isHere ? 'page' : null}>${name}</a>`;
}

/** @param {{page: import('../page.js').Page}} given */
function Clusters({ page }) {
  const all = page.status?.clusters ?? [];
  const { away } = page;
  if (all.length + away.length < 2) {
    return html`<span class="cluster">${page.cluster?.name ?? ''}</span>`;
  }
  const isFleet = isList(page.place);
  const isAll = isFleet && page.isOfAll
    && page.fleetLogs.length + away.length > 1;
  return html`
    <select aria-label="Cluster" value=${isAll ? ALL : page.cluster?.log.id}
      onChange=${(/** @type {any} */ event) =>
        page.go({ log: event.target.value, cluster: '', entry: '' })}>
      ${isFleet && html`<option value=${ALL}>all clusters</option>`}
      ${all.map((/** @type {any} */ one) => html`
        <option key=${one.log.id} value=${one.log.id}>${one.name}${
          one.log.kind === 'TAPE' ? ` (tape, log ${one.log.id})` : ''}</option>
      `)}
      ${away.map(({ cluster }) => html`
        <option key=${cluster} disabled>${cluster} (away)</option>`)}
    </select>
  `;
}

/** @param {{page: import('../page.js').Page}} given */
function Window({ page }) {
  const { place } = page;
  const isFixed = place.from !== null && place.to !== null;
  return html`
    <select aria-label="Window" value=${isFixed ? 'fixed' : place.last}
      onChange=${(/** @type {any} */ event) =>
        page.go({ last: event.target.value, from: null, to: null })}>
      ${isFixed && html`<option value="fixed">custom window</option>`}
      ${LASTS.map(([value, name]) => html`
        <option key=${value} value=${value}>${name}</option>`)}
    </select>
  `;
}

/** @param {{page: import('../page.js').Page}} given */
function Recording({ page }) {
  const { status, cluster } = page;
  const error = page.answers.of('overview').error
    || page.answers.of('pulse').error;
  if (error !== '') {
    return html`<span class="recording lost" role="status">
      <i aria-hidden="true"></i>offline: ${error}</span>`;
  }
  if (cluster === null && status !== null && page.away.length > 0) {
    const [first] = page.away;
    const names = page.away.map((one) => one.cluster).join(', ');
    return html`<span class="recording lost" role="status" title=${names}>
      <i aria-hidden="true"></i>${page.away.length === 1
        ? `${first.cluster} is away: ${first.why}`
        : `all ${page.away.length} clusters are away`}</span>`;
  }
  if (cluster === null && status !== null) return null;
  if (cluster === null) {
    return html`<span class="recording" role="status">
      <i aria-hidden="true"></i>loading</span>`;
  }
  const { tone, says } = recordingOf(status, cluster, page.place.zone);
  const isLive = tone === 'live' && page.ui.isLive;
  return html`
    <a class="recording ${isLive ? 'live' : tone}"
      href=${page.href({ view: 'sources' })}>
      <i aria-hidden="true"></i>${isLive ? 'live, ' : ''}${says}</a>
  `;
}

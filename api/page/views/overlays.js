/** What opens above the page: keys, search, a time to go to. */

import { Component, html } from '../html.js';
import { keepToken } from '../ask/token.js';
import { BINDINGS } from '../route/keys.js';
import { zoneName } from '../time/clock.js';
import { counted } from '../words/plain.js';
import { sentenceOf } from '../words/workload.js';

/** @param {{page: import('../page.js').Page}} given */
export function Overlay({ page }) {
  const { shown } = page.ui;
  if (shown === '' || shown === 'hand') return null;
  const [Part, label] = PARTS[shown];
  return html`<${Dialog} page=${page} label=${label}><${Part} page=${page} /><//>`;
}

/** A dialog of the browser's own: it keeps the focus and gives it back. */
export class Dialog extends Component {
  componentDidMount() {
    /** @type {any} */ (this).element.showModal();
  }

  render() {
    const { page, label, children } = /** @type {any} */ (this.props);
    return html`
      <dialog aria-label=${label} ref=${(/** @type {any} */ element) => {
        /** @type {any} */ (this).element = element;
      }} onClose=${() => page.show('')}
        onClick=${(/** @type {any} */ event) => {
          if (event.target === event.currentTarget) page.show('');
        }}>
        <div class="inside">${children}</div>
      </dialog>
    `;
  }
}

/** @param {{page: import('../page.js').Page}} given */
function Help({ page }) {
  return html`
    <h2>Keys</h2>
    <dl class="keys">
      ${BINDINGS.map(({ keys, does, action }) => html`
        <dt key=${action}>${keys.map((key) => html`<kbd>${key}</kbd> `)}</dt>
        <dd>${does}</dd>
      `)}
    </dl>
    <p class="quiet">On a timeline: drag to move, Ctrl and wheel to zoom,
      click to open an item or to measure from a time.</p>
    <button type="button" onClick=${() => page.show('')}>Close</button>
  `;
}

/** @param {{page: import('../page.js').Page}} given */
function GoTo({ page }) {
  const zone = zoneName(page.place.zone, page.now());
  return html`
    <form onSubmit=${(/** @type {any} */ event) => {
      event.preventDefault();
      page.goTo(event.target.elements.time.value);
    }}>
      <label>Go to a time (${zone})
        <input name="time" autofocus autocomplete="off"
          placeholder="03:14, 2026-11-21 03:14, 2h" /></label>
      ${page.ui.refused && html`<p class="note trouble" role="alert"
        >${page.ui.refused}</p>`}
      <button type="submit">Go</button>
    </form>
  `;
}

/** @param {{page: import('../page.js').Page}} given */
function Search({ page }) {
  const { hits, searchLogs } = page;
  const answers = searchLogs.map(({ log }) => page.answers.of(`search ${log}`));
  const failed = answers.find(({ error }) => error !== '');
  const left = (page.status?.clusters.length ?? 0) - searchLogs.length;
  return html`
    <form role="search" onSubmit=${(/** @type {any} */ event) => {
      event.preventDefault();
      page.openHit(hits[page.ui.hit] ?? hits[0]);
    }}>
      <label>Search for a node, job, object or entry
        <input type="search" autofocus autocomplete="off" value=${page.ui.text}
          spellcheck="false" aria-controls="hits"
          onInput=${(/** @type {any} */ event) =>
            page.set({ text: event.target.value.trim(), hit: 0 })}
          onKeyDown=${(/** @type {KeyboardEvent} */ event) =>
            page.chooseHit(event, hits.length)} /></label>
    </form>
    ${failed && html`<p class="note trouble" role="alert"
      >${failed.error}</p>`}
    <${Job} page=${page} />
    <ul id="hits" class="hits" aria-live="polite">
      ${hits.map((/** @type {any} */ hit, /** @type {number} */ place) => html`
        <li key="${hit.log} ${hit.kind} ${hit.title}"
          class=${place === page.ui.hit ? 'chosen' : ''}>
          <a href=${page.hitLink(hit)} onClick=${() => page.show('')}>
            ${hit.title} <span class="kind">${[hit.kind.toLowerCase(),
              hit.cluster].filter(Boolean).join(', ')}</span></a>
        </li>
      `)}
    </ul>
    ${page.ui.text !== '' && hits.length === 0 && !failed
      && answers.every(({ isAsking }) => !isAsking)
      && html`<p class="quiet">No results for “${page.ui.text}”.</p>`}
    ${page.ui.text !== '' && answers.some(({ data }) => data?.search?.more)
      && html`<p class="quiet">There are more results: refine the search.</p>`}
    ${left > 0 && html`<p class="quiet">${counted(left, 'more cluster')} not
      searched: choose one in the header.</p>`}
  `;
}

/**
 * What became of the job that is chosen: an answer before it is opened.
 * @param {{page: import('../page.js').Page}} given
 */
function Job({ page }) {
  const { searchedJob } = page;
  if (searchedJob === null) return null;
  const { key, dataKey, data } = page.answers.of('job');
  const why = key === dataKey ? (data?.whyWorkload ?? null) : null;
  return html`<p class="note job" role="status">${why === null
    ? `Looking for what became of ${searchedJob.name} …` : sentenceOf(why)}</p>`;
}

/**
 * Instead of the view, where the recorder wants to know who asks.
 * @param {{page: import('../page.js').Page}} given
 */
export function TokenForm({ page }) {
  return html`
    <form class="token" onSubmit=${(/** @type {any} */ event) => {
      event.preventDefault();
      keepToken(event.target.elements.token.value);
      page.answers.retry();
    }}>
      <h1>Token required</h1>
      <p class="quiet">This recorder requires a token. The page keeps it for
        this tab only.</p>
      <label>Token <input type="password" name="token" autofocus
        autocomplete="off" /></label>
      <button type="submit">Continue</button>
    </form>
  `;
}

/** @type {Record<string, [any, string]>} */
const PARTS = {
  help: [Help, 'Keys'],
  goto: [GoTo, 'Go to a time'],
  search: [Search, 'Search'],
};

/** The whole of the page as one function of its state. */

import { html } from './html.js';
import { counted } from './words/plain.js';
import { Evidence } from './views/evidence.js';
import { Fleet } from './views/fleet.js';
import { Header } from './views/header.js';
import { Node } from './views/node.js';
import { KubernetesObject } from './views/object.js';
import { Overlay, TokenForm } from './views/overlays.js';
import { Sources } from './views/sources.js';
import { Empty } from './views/states.js';
import { Workload, sentenceOf } from './views/workload.js';

const VIEWS = {
  fleet: Fleet,
  node: Node,
  object: KubernetesObject,
  workload: Workload,
  sources: Sources,
};

/** @param {{page: import('./doing.js').DoingPage}} given */
export function App({ page }) {
  const { place } = page;
  const View = viewOf(page);
  return html`
    <a class="skip" href="#main">To what happened</a>
    <${Header} page=${page} />
    <div class="body ${place.entry ? 'split' : ''}">
      <main id="main" tabindex="-1">
        <${View} key="${place.view} ${place.kind} ${place.namespace}
          ${place.name}" page=${page} />
      </main>
      <${Evidence} page=${page} />
    </div>
    <${Overlay} page=${page} />
    <div class="said" role="status">${page.ui.said}</div>
  `;
}

/** @param {import('./doing.js').DoingPage} page */
function viewOf(page) {
  if (page.answers.of('overview').code === 'access.denied') return TokenForm;
  return page.status && !page.cluster ? NoLog : VIEWS[page.place.view];
}

/** @param {{page: import('./page.js').Page}} given */
function NoLog({ page }) {
  const { clusters } = page.status;
  const links = clusters.map((/** @type {any} */ one) => ({
    href: page.href({ view: 'fleet', cluster: '', log: one.log.id }),
    says: `${one.name}, log ${one.log.id}`,
  }));
  const says = clusters.length === 0
    ? 'Nothing recorded yet. Run recorder up to record your cluster.'
    : 'No such log. Available logs:';
  return html`<${Empty} says=${says} links=${links} />`;
}

/**
 * The title: the finding, so that a tab or a preview of the link tells it.
 * @param {import('./page.js').Page} page
 * @returns {string}
 */
export function titleOf(page) {
  const { place } = page;
  const found = findingOf(page);
  const name = place.entry ? `${place.entry} · ` : '';
  return `${name}${found} · Recorder`;
}

/** @param {import('./page.js').Page} page */
function findingOf(page) {
  const { place } = page;
  const object = [place.namespace, place.name].filter(Boolean).join('/');
  if (place.view === 'sources') return 'Sources';
  if (place.view === 'object') return `${place.kind} ${object}`;
  if (place.view === 'workload') {
    const story = page.answers.of('workload').data?.workload;
    return story ? sentenceOf(story) : `${place.kind} ${object}`;
  }
  if (place.view === 'node') {
    const verdict = page.openVerdict ?? page.verdicts.at(-1);
    if (verdict) return verdict.sentence;
    return page.node === null ? place.name : `${place.name}: no incidents`;
  }
  const { incidents } = page;
  if (incidents.length === 0) return 'Fleet';
  if (incidents.length === 1) return incidents[0].sentence;
  return `${counted(incidents.length, 'incident')}, newest: ${
    incidents[0].sentence}`;
}

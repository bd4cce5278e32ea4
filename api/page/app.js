/** The whole of the page as one function of its state. */

import { html } from './html.js';
import { loadPart, partOf } from './parts.js';
import { counted } from './words/plain.js';
import { Header } from './views/header.js';
import { Overlay, TokenForm } from './views/overlays.js';
import { Away, Empty, Waiting } from './views/states.js';

/** @type {Record<import('./parts.js').PartName, string>} */
const COMPONENTS = {
  fleet: 'Fleet', jobs: 'Jobs', node: 'Node', workload: 'Workload', compare: 'Compare',
  object: 'KubernetesObject', places: 'Places', sources: 'Sources',
  evidence: 'Evidence', handing: 'Handing', metrics: 'Metrics',
};

/**
 * A part of the page, with placeholder lines until it is loaded.
 * @param {{page: import('./page.js').Page,
 *   name: import('./parts.js').PartName}} given
 */
export function Part({ page, name }) {
  const part = partOf(name);
  if (part) return html`<${part[COMPONENTS[name]]} page=${page} />`;
  loadPart(name, () => page.set({}));
  return html`<${Waiting} lines=${6} says="Loading the view" />`;
}

/** @param {{page: import('./doing.js').DoingPage}} given */
export function App({ page }) {
  const { place } = page;
  const Instead = insteadOf(page);
  return html`
    <a class="skip" href="#main">To what happened</a>
    <${Header} page=${page} />
    <div class="body ${place.entry ? 'split' : ''}">
      <main id="main" tabindex="-1">
        ${Instead ? html`<${Instead} page=${page} />` : html`
          <${Part} key="${place.view} ${place.kind} ${place.namespace}
            ${place.name}" page=${page} name=${place.view} />`}
      </main>
      ${place.entry && html`<${Part} page=${page} name="evidence" />`}
    </div>
    <${Overlay} page=${page} />
    ${page.ui.shown === 'hand' && html`<${Part} page=${page} name="handing" />`}
    <div class="said" role="status">${page.ui.said}</div>
  `;
}

/**
 * What is shown instead of a view that cannot be shown.
 * @param {import('./page.js').Page} page
 */
function insteadOf(page) {
  if (page.answers.of('overview').code === 'access.denied') return TokenForm;
  if (page.place.view === 'fleet' && page.place.name) return NoPage;
  return page.status && !page.cluster ? NoLog : null;
}

/** @param {{page: import('./page.js').Page}} given */
function NoPage({ page }) {
  const { name } = page.place;
  const last = name.split('/').filter(Boolean).at(-1) ?? '';
  const links = [
    { href: page.href({ view: 'fleet' }), says: 'the fleet' },
    { href: page.href({ view: 'jobs' }), says: 'jobs' },
    { href: page.href({ view: 'node', name: last }), says: `the node ${last}` },
    { href: page.href({ view: 'sources' }), says: 'sources and gaps' },
  ];
  return html`<${Empty} says="There is no page ${name}. Perhaps:" links=${links} />`;
}

/** @param {{page: import('./page.js').Page}} given */
function NoLog({ page }) {
  const { clusters } = page.status;
  const { away, place } = page;
  if (clusters.length === 0 && away.length > 0) {
    return html`<h1 id="title">No cluster responds</h1>
      <${Away} away=${away} />`;
  }
  const links = clusters.map((/** @type {any} */ one) => ({
    href: page.href({ view: 'fleet', cluster: '', log: one.log.id }),
    says: `${one.name}, log ${one.log.id}`,
  }));
  const says = clusters.length === 0
    ? 'Nothing recorded yet. Run recorder up to record your cluster, or recorder demo.'
    : `No such log: ${place.log || place.cluster}. Available logs:`;
  return html`<${Away} away=${away} /><${Empty} says=${says} links=${links} />`;
}

/**
 * The title: the finding, so that a tab or a preview of the link shows it.
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
  if (place.view === 'places') {
    return place.name ? `${place.kind}/${place.name}` : 'Places';
  }
  if (place.view === 'jobs') {
    const [newest] = page.jobs?.jobs ?? [];
    return newest?.lastEnding ? `Jobs, ${newest.lastEnding.sentence}` : 'Jobs';
  }
  if (place.view === 'compare') {
    return `${place.name} compared with ${place.other || 'another time'}`;
  }
  if (place.view === 'object') return `${place.kind} ${object}`;
  if (place.view === 'workload') {
    const why = page.answers.of('endings').data?.whyWorkload;
    return page.openEnding?.sentence ?? why?.sentence ?? `${place.kind} ${object}`;
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

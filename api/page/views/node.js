/** A node: what happened to it and why, over its timeline. */

import { html } from '../html.js';
import { arranged } from '../timeline/arranging.js';
import { Timeline } from '../timeline/timeline.js';
import { counted } from '../words/plain.js';
import { Facts } from './facts.js';
import { Jobs } from './jobs.js';
import { NodeMap } from './map.js';
import { Objects } from './objects.js';
import { Coverage, Empty, Trouble, Waiting } from './states.js';
import { VerdictCard } from './verdict.js';

const PARTS = /** @type {const} */ ([
  ['why', 'Why'], ['timeline', 'Timeline'], ['jobs', 'Jobs'],
  ['objects', 'Objects'], ['facts', 'Facts'],
]);

/** @param {{page: import('../page.js').Page}} given */
export function Node({ page }) {
  const { place } = page;
  const slot = place.from === null ? 'latest' : page.nodeSlot;
  const answer = page.answers.of(slot);
  const node = answer.data?.node ?? null;
  const isOld =
    node !== null && (answer.error !== '' || answer.key !== answer.dataKey);
  return html`
    <section class="node" aria-labelledby="title">
      <div class="title">
        <h1 id="title"><small>Node</small> ${place.name}</h1>
        <nav aria-label="Parts of this page">
          ${PARTS.map(([id, name]) => html`
            <a key=${id} href="#${id}">${name}</a>
          `)}
        </nav>
        <div class="does">
          <button type="button" onClick=${() => page.copy()}>
            Copy as Markdown</button>
          <button type="button" onClick=${() => page.save()}>
            Save as HTML</button>
        </div>
      </div>
      <${Trouble} answer=${answer} zone=${place.zone}
        onRetry=${() => page.answers.retry()} />
      <section id="why" aria-label="Why" class=${isOld ? 'old' : ''}>
        <${Why} page=${page} node=${node} hasFailed=${answer.error !== ''} />
      </section>
      <section id="timeline" aria-label="Timeline">
        <h2>Timeline</h2>
        <${NodeMap} page=${page} />
        <${Lanes} page=${page} isOld=${isOld} />
      </section>
      ${node && html`
        <${Jobs} page=${page} impact=${node.impact} />
        <${Objects} page=${page} timeline=${node.timeline} />
        <${Facts} page=${page} timeline=${node.timeline} />
      `}
    </section>
  `;
}

/** @param {{page: import('../page.js').Page, node: any,
 *   hasFailed: boolean}} given */
function Why({ page, node, hasFailed }) {
  if (node === null) {
    return hasFailed
      ? null
      : html`<${Waiting} lines=${4} says="Loading verdicts" />`;
  }
  const { zone } = page.place;
  const { why } = node;
  const verdicts = [...page.verdicts].reverse();
  const open = page.openVerdict;
  return html`
    <${Coverage} coverage=${why.coverage} zone=${zone} />
    ${verdicts.length === 0 && html`
      <${Empty} says="No incidents recorded for ${page.place.name}
        in this window${why.coverage.complete ? '' : ', which has gaps'}."
        links=${page.nearestToNode()} />`}
    ${verdicts.map((verdict) => html`
      <${VerdictCard} key=${verdict.id} page=${page} verdict=${verdict}
        isOpen=${verdict === open} />
    `)}
  `;
}

/** @param {{page: import('../page.js').Page, isOld: boolean}} given */
function Lanes({ page, isOld }) {
  const { place } = page;
  const window = page.nodeWindow;
  const { shown, folded } = arranged(page.lanes, place, window);
  const summary = page.lanes.length === 0
    ? 'Loading lanes'
    : `${counted(shown.length, 'lane')} of ${page.lanes.length}`;
  return html`
    <div class="lanes-about" role="status">${summary}</div>
    <${Timeline} lanes=${shown} folded=${folded} pinned=${place.pinned}
      window=${window} zone=${place.zone} chosen=${place.entry || null}
      isOld=${isOld}
      onWindow=${(/** @type {any} */ moved) => page.go(moved, { replace: true })}
      onOpen=${(/** @type {string} */ entry) => page.go({ entry })}
      onLane=${(/** @type {any} */ does, /** @type {string} */ id) =>
        page.lane(does, id, shown)} />
  `;
}

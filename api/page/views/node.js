/** A node: what happened to it and why, over its timeline. */

import { Part } from '../app.js';
import { html } from '../html.js';
import { ofNode } from '../needs/node.js';
import { arranged } from '../timeline/arranging.js';
import { readied } from '../timeline/lane.js';
import { lanesOfNode } from '../timeline/ofnode.js';
import { Timeline } from '../timeline/timeline.js';
import { counted } from '../words/plain.js';
import { Facts } from './facts.js';
import { Jobs } from './hits.js';
import { NodeMap } from './map.js';
import { Objects } from './objects.js';
import { Coverage, Empty, Trouble, Waiting } from './states.js';
import { Doubts, OtherVerdicts, VerdictCard } from './verdict.js';

/** What the view requests. */
export const needsOf = ofNode;

const PARTS = /** @type {const} */ ([
  ['why', 'Why'], ['timeline', 'Timeline'], ['detail', 'Detail'],
  ['jobs', 'Jobs'], ['objects', 'Objects'], ['facts', 'Facts'],
]);

/**
 * The lanes of a node in a window, with the steps of one verdict.
 * @param {{data: any, verdict: any, sources: any[], end: number | null}} given
 */
export const lanesOf = ({ data: { timeline }, verdict, sources, end }) =>
  timeline === null ? []
    : lanesOfNode(timeline, verdict === null ? [] : [verdict], sources, end)
      .map(readied);

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
          <a class="button" href=${page.href({ view: 'compare',
            name: place.name, from: place.from, to: place.to })}>Compare</a>
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
      ${(node || !answer.isFinal) && html`
        <section id="timeline" aria-label="Timeline">
          <${NodeMap} page=${page} />
          <${Lanes} page=${page} isOld=${isOld} />
        </section>
      `}
      ${node && html`
        ${page.kept.length > 0 && html`<${Part} page=${page} name="metrics" />`}
        <${Detail} page=${page} />
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
  const { coverage } = node.why;
  const open = page.openVerdict;
  return html`
    <${Coverage} coverage=${coverage} zone=${zone} absent=${
      open?.missing.map((/** @type {any} */ one) => one.evidence)} />
    ${open === null
      ? html`<${Empty} says="No incidents recorded for ${page.place.name}
          in this window${coverage.complete ? '' : ', which has gaps'}."
          links=${page.nearestToNode()} />`
      : html`<${VerdictCard} key=${open.id} page=${page} verdict=${open}
          jobs=${page.hitsOf(open)} />`}
  `;
}

/**
 * Below the picture: what the verdict rests on, and the other ones.
 * @param {{page: import('../page.js').Page}} given
 */
function Detail({ page }) {
  const open = page.openVerdict;
  if (open === null) return null;
  const others = page.verdicts.filter((one) => one !== open).reverse();
  return html`
    <section id="detail" aria-label="Detail">
      <h2>How sure this is</h2>
      <${Doubts} page=${page} verdict=${open} />
      <${OtherVerdicts} page=${page} verdicts=${others}
        title="Also in this window" noun="incident" />
    </section>
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

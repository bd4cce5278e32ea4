/** A workload: its Pods over nodes and time, and what hit them. */

import { html } from '../html.js';
import { readInstant } from '../time/instant.js';
import { dayAndClock } from '../time/clock.js';
import { readied } from '../timeline/lane.js';
import { lanesOfWorkload } from '../timeline/ofworkload.js';
import { Timeline } from '../timeline/timeline.js';
import { counted, rounded } from '../words/plain.js';
import { sentenceOf } from '../words/workload.js';
import { Hits } from './jobs.js';
import { Coverage, Empty, Figure, Trouble, Waiting } from './states.js';

/**
 * The lanes of a workload.
 * @param {{data: any, sources: any[]}} given
 */
export const lanesOf = ({ data, sources }) =>
  lanesOfWorkload(data, sources).map(readied);

/** @param {{page: import('../page.js').Page}} given */
export function Workload({ page }) {
  const { place } = page;
  const answer = page.answers.of('workload');
  const story = answer.data?.workload ?? null;
  const isOld =
    story !== null && (answer.error !== '' || answer.key !== answer.dataKey);
  return html`
    <section class="workload" aria-labelledby="title">
      <div class="title">
        <h1 id="title"><small>${place.kind}</small>
          ${' '}${place.namespace}/${place.name}</h1>
      </div>
      <${Trouble} answer=${answer} zone=${place.zone}
        onRetry=${() => page.answers.retry()} />
      ${story === null
        ? answer.error === '' && html`<${Waiting} lines=${6}
            says="Loading Pods" />`
        : html`<${Story} page=${page} story=${story} isOld=${isOld} />`}
    </section>
  `;
}

/** @param {{page: import('../page.js').Page, story: any,
 *   isOld: boolean}} given */
function Story({ page, story, isOld }) {
  const { place } = page;
  const { zone } = place;
  const lost = story.hits.reduce(
    (/** @type {number} */ sum, /** @type {any} */ hit) =>
      sum + hit.gpuHoursLost, 0);
  const full = readInstant(story.ranInFullAt ?? '');
  const what = story.isGang ? 'all Pods required' : 'Pods run independently';
  return html`
    <div class=${isOld ? 'old' : ''}>
      <p class="sentence">${sentenceOf(story)}</p>
      <${Coverage} coverage=${story.coverage} zone=${zone} />
      <div class="figures">
        <${Figure} value=${String(story.gpus)} says="GPUs, ${what}" />
        <${Figure} value=${String(story.nodes.length)}
          says=${story.nodes.length === 1 ? 'node' : 'nodes'} />
        <${Figure} value="≥ ${rounded(lost)}" says="GPU-hours lost, plus
          any work since the last checkpoint (not recorded)" />
        <${Figure} value=${full === null ? 'never'
          : dayAndClock(full, zone)} says="first ran in full" />
      </div>
      <h2>Pods by node</h2>
      ${page.lanes.length === 0
        ? html`<${Empty} says="No Pods recorded in this window."
            links=${[]} />`
        : html`<${Timeline} lanes=${page.lanes} folded=${[]}
            pinned=${place.pinned} window=${page.workloadWindow} zone=${zone}
            chosen=${place.entry || null} isOld=${isOld}
            onWindow=${(/** @type {any} */ to) => page.go(to, { replace: true })}
            onOpen=${(/** @type {string} */ entry) => page.go({ entry })}
            onLane=${(/** @type {any} */ does, /** @type {string} */ id) =>
              page.lane(does, id, page.lanes)} />`}
      <h2>Disruptions</h2>
      ${story.hits.length === 0
        ? html`<p class="quiet">No disruptions recorded.</p>`
        : html`<${Hits} page=${page} hits=${story.hits} />
            <${Verdicts} page=${page} hits=${story.hits} />`}
      <h2>Pods</h2>
      <${Pods} page=${page} placements=${story.placements} />
    </div>
  `;
}

/** @param {{page: import('../page.js').Page, hits: any[]}} given */
function Verdicts({ page, hits }) {
  const links = new Map(hits.map((hit) => [hit.firstNode, hit]));
  return html`
    <p>Why: ${[...links].map(([node, hit]) => {
      const at = readInstant(hit.hitAt) ?? 0;
      const href = page.href({
        view: 'node', name: node, from: at - 600_000, to: at + 600_000,
      });
      return html`<a key=${node} href=${href}>what happened to ${node}</a> `;
    })}</p>
  `;
}

/** @param {{page: import('../page.js').Page, placements: any[]}} given */
function Pods({ page, placements }) {
  const { zone } = page.place;
  const when = (/** @type {string | null} */ text) => {
    const at = readInstant(text ?? '');
    return at === null ? '' : html`<time>${dayAndClock(at, zone)}</time>`;
  };
  return html`
    <p class="quiet">${counted(placements.length, 'Pod')}, in order of
      binding.</p>
    <table class="pods stacked">
      <thead><tr><th scope="col">Pod</th><th scope="col">Node</th>
        <th scope="col">Bound</th><th scope="col">Ran</th>
        <th scope="col">Ended</th><th scope="col">How</th></tr></thead>
      <tbody>${placements.map((one) => html`
        <tr key="${one.uid} ${one.boundAt}">
          <td class="whole"><a href=${page.objectLink({ kind: 'Pod',
            namespace: one.namespace, name: one.pod })}>${one.pod}</a></td>
          <td data-name="on">${one.node && html`<a href=${page.href({ view: 'node',
            name: one.node })}>${one.node}</a>`}</td>
          <td data-name=${one.boundAt && 'bound'}>${when(one.boundAt)}</td>
          <td data-name=${one.runningAt && 'ran'}>${when(one.runningAt)}</td>
          <td data-name=${one.endedAt && 'ended'}>${when(one.endedAt)}</td>
          <td>${[one.phase, one.disruption, ...one.exitCodes.map(
            (/** @type {number} */ code) => `exit ${code}`)]
            .filter(Boolean).join(', ')}</td>
        </tr>`)}</tbody>
    </table>
  `;
}

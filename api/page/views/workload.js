/** A workload: what ended it, and why, over its Pods by node. */

import { Part } from '../app.js';
import { html } from '../html.js';
import { ofWorkload } from '../needs/workload.js';
import { readInstant } from '../time/instant.js';
import { clock, dayAndClock } from '../time/clock.js';
import { readied } from '../timeline/lane.js';
import { LANES_ALL, lanesOfWorkload } from '../timeline/ofworkload.js';
import { Timeline } from '../timeline/timeline.js';
import {
  alike, createdBy, endedBy, endedByWhom, lostOn, pathOf,
} from '../words/ending.js';
import { counted, gpuHours, objectName, prose } from '../words/plain.js';
import { partOf, phaseOf, slurmNames } from '../words/workload.js';
import { Coverage, Empty, Figure, Trouble, Waiting } from './states.js';
import {
  About, Doubts, OtherVerdicts, Path, Sure, timesRow,
} from './verdict.js';

/** What the view requests. */
export const needsOf = ofWorkload;

/** Nodes that are named where many were hit alike; the rest are counted. */
const NODES_NAMED = 10;
const ROWS_SHOWN = 60;

/** @param {string} word */
const titled = (word) => word.charAt(0).toUpperCase() + word.slice(1);

/**
 * The lanes of a workload.
 * @param {{data: any, endings: any[], sources: any[], end: number | null}} given
 */
export const lanesOf = ({ data, endings, sources, end }) =>
  lanesOfWorkload(data, endings, sources, end).map(readied);

/** @param {{page: import('../doing.js').DoingPage}} given */
export function Workload({ page }) {
  const { place } = page;
  const answers = [page.answers.of('endings'), page.answers.of('workload')];
  const [why, story] = [answers[0].data?.whyWorkload, answers[1].data?.workload];
  const failed = answers.find(({ error }) => error !== '');
  const isOld = answers.some(({ error, key, dataKey }) =>
    error !== '' || key !== dataKey);
  return html`
    <section class="workload" aria-labelledby="title">
      <div class="title">
        <h1 id="title"><small>${place.kind}</small>
          ${' '}${place.namespace}/${place.name}
          ${why && html` <small>${prose(why.state)}</small>`}</h1>
        ${why?.slurm && html`<p class="quiet">${slurmNames(why.slurm)}</p>`}
        <div class="does">
          <button type="button" onClick=${() => page.copy()}>
            Copy as Markdown</button>
        </div>
      </div>
      ${failed && html`<${Trouble} answer=${failed} zone=${place.zone}
        onRetry=${() => page.answers.retry()} />`}
      ${why ? html`<div class=${isOld ? 'old' : ''}>
          <${Why} page=${page} why=${why} /></div>`
        : !failed && html`<${Waiting} lines=${4} says="Loading endings" />`}
      ${story && html`<div class=${isOld ? 'old' : ''}>
        ${story.placements.length === 0
          ? html`<p class="quiet">No ${partOf(place.kind)}s recorded.</p>`
          : html`<${Story} page=${page} story=${story} />`}</div>`}
    </section>
  `;
}

/** @param {{page: import('../page.js').Page, why: any}} given */
function Why({ page, why }) {
  const { zone } = page.place;
  const open = page.openEnding;
  return html`
    <${Coverage} coverage=${why.coverage} zone=${zone}
      absent=${open?.missing.map((/** @type {any} */ one) => one.evidence)} />
    ${open === null
      ? html`<p class="sentence">${why.sentence}</p>
          ${why.obstacles.length > 0
            && html`<${Obstacles} page=${page} obstacles=${why.obstacles} />`}`
      : html`<${EndingCard} key=${open.id} page=${page} ending=${open} />`}
  `;
}

/**
 * What keeps a workload from starting, each with its record.
 * @param {{page: import('../page.js').Page, obstacles: any[]}} given
 */
function Obstacles({ page, obstacles }) {
  return html`
    <h2>What keeps it from starting</h2>
    <table class="members stacked"><tbody>${
      obstacles.map((/** @type {any} */ { entry, at, says }) => html`
        <tr key=${entry + says} data-entries=${entry}>
          <td><time>${dayAndClock(readInstant(at) ?? 0, page.place.zone)}</time></td>
          <td class="whole">${says}</td>
          <td><a class="code" href=${page.keep({ entry })}>${entry}</a></td>
        </tr>`)}</tbody></table>
  `;
}

/** @param {{page: import('../page.js').Page, ending: any}} given */
function EndingCard({ page, ending }) {
  const { zone } = page.place;
  const by = endedByWhom(ending);
  const again = readInstant(ending.runningAgainAt ?? '');
  const nodes = lostOn(ending);
  const { podCount, stopped, outcome, gpuHoursLost, preemptor } = ending;
  const rows = [
    ['Cause', endedBy(ending)],
    ...(by === '' ? [] : [['By', preemptor ? html`<a href=${
      page.workloadLink(preemptor)}>${objectName(preemptor)}</a>${
      createdBy(preemptor)}` : by]]),
    ...(nodes.length === 0 ? [] : [['On', html`<${Nodes} page=${page}
      nodes=${nodes} ending=${ending} />`]]),
    ...(podCount === 0 ? [] : [['Lost', counted(podCount,
      partOf(page.place.kind))
      + (stopped.length > 0 ? `, ${stopped.length} more stopped` : '')]]),
    ...(outcome === null ? [] : [['Outcome', prose(outcome)]]),
    ...(again === null ? [] : [['Running again', clock(again, zone)]]),
    ...(gpuHoursLost > 0 ? [['GPU-hours', `≥ ${gpuHours(gpuHoursLost)} lost`]] : []),
    timesRow(readInstant(ending.at) ?? 0, zone),
  ];
  return html`
    <article class="verdict open" id="ending-${ending.id}">
      <header>
        <p class="sentence">${ending.sentence}</p>
        <${Sure} verdict=${ending} />
      </header>
      <${About} rows=${rows} />
      <${Path} page=${page} verdict=${pathOf(ending)} />
    </article>
  `;
}

/**
 * Nodes on which Pods were lost, each with a link to what happened to it.
 * @param {{page: import('../page.js').Page, nodes: string[], ending: any}} given
 */
function Nodes({ page, nodes, ending }) {
  const left = nodes.length - NODES_NAMED;
  return html`${nodes.slice(0, NODES_NAMED).map((node, place) => html`
    ${place > 0 && ', '}<a key=${node}
      href=${page.nodeLink(node, ending)}>${node}</a>`)}${left > 0
    && ` and ${counted(left, 'more node', 'more nodes')}`}`;
}

/** @param {{page: import('../page.js').Page, story: any}} given */
function Story({ page, story }) {
  const { place, endings, openEnding: open } = page;
  const { zone } = place;
  const lost = endings.reduce((/** @type {number} */ sum,
    /** @type {any} */ one) => sum + (one.gpuHoursLost ?? 0), 0);
  const full = readInstant(story.ranInFullAt ?? '');
  const part = partOf(place.kind);
  const what = story.isGang ? `all ${part}s required` : 'Pods run independently';
  const unseen = story.nodes.length - page.lanes.length;
  return html`
    <h2>${titled(part)}s by node</h2>
    ${story.nodes.length > LANES_ALL && unseen > 0 && html`<p class="quiet">
      Only nodes on which ${part}s were lost: ${counted(unseen, 'other node')} not
      drawn.</p>`}
    ${page.lanes.length === 0
      ? html`<${Empty} says="No ${part}s recorded in this window." links=${[]} />`
      : html`<${Timeline} lanes=${page.lanes} folded=${[]}
          pinned=${place.pinned} window=${page.workloadWindow} zone=${zone}
          chosen=${place.entry || null} isOld=${false}
          onWindow=${(/** @type {any} */ to) => page.go(to, { replace: true })}
          onOpen=${(/** @type {string} */ entry) => page.go({ entry })}
          onLane=${(/** @type {any} */ does, /** @type {string} */ id) =>
            page.lane(does, id, page.lanes)} />`}
    ${page.kept.length > 0 && html`<${Part} page=${page} name="metrics" />`}
    <div class="figures">
      <${Figure} value=${String(story.gpus)}
        says="${story.gpus === 1 ? 'GPU' : 'GPUs'}, ${what}" />
      <${Figure} value=${String(story.nodes.length)}
        says=${story.nodes.length === 1 ? 'node' : 'nodes'} />
      <${Figure} value="≥ ${gpuHours(lost)}" says="GPU-hours lost, plus
        any work since the last checkpoint (not recorded)" />
      <${Figure} value=${full === null ? 'never'
        : dayAndClock(full, zone)} says="first ran in full" />
    </div>
    ${open !== null && html`
      <${Lost} page=${page} ending=${open} />
      <${Doubts} page=${page} verdict=${{ ...pathOf(open), rivals: [],
        contradictions: [], gaps: [], missing: open.missing,
        evidenceLeftOut: 0 }} />
      <${OnNodes} page=${page} ending=${open} />
      <${OtherVerdicts} page=${page} title="Also ended" noun="time"
        verdicts=${endings.filter((/** @type {any} */ one) => one !== open)
          .reverse()} />`}
    <h2>${titled(part)}s</h2>
    <${Pods} page=${page} placements=${story.placements} />
  `;
}

/**
 * A Pod, with a link; a member of a job of Slurm is no object.
 * @param {{page: import('../page.js').Page, namespace: string, name: string}} given
 */
function Member({ page, namespace, name }) {
  if (partOf(page.place.kind) !== 'Pod') return name;
  return html`<a href=${page.objectLink({ kind: 'Pod', namespace, name })}
    >${name}</a>`;
}

/** @param {{page: import('../page.js').Page, ending: any}} given */
function Lost({ page, ending: { pods, members, stopped } }) {
  if (members.length === 0) return null;
  const left = members.length - ROWS_SHOWN, part = partOf(page.place.kind);
  const isLost = (/** @type {any} */ { pod }) => pods.includes(pod);
  const inOrder = [...members.filter(isLost),
    ...members.filter((/** @type {any} */ one) => !isLost(one))];
  return html`
    <h2>Lost ${part}s <small>${counted(pods.length, part)}${stopped.length > 0
      && `; ${counted(stopped.length, 'other')} stopped because the workload
        did not go on`}</small></h2>
    <table class="members stacked">
      <thead><tr><th scope="col">${titled(part)}</th><th scope="col">Node</th>
        <th scope="col">What its record says</th><th scope="col">Entry</th></tr>
      </thead>
      <tbody>${inOrder.slice(0, ROWS_SHOWN).map((/** @type {any} */ one) => html`
        <tr key=${one.pod} data-entries=${one.entry}>
          <td class="whole"><${Member} page=${page} name=${one.pod}
            namespace=${page.place.namespace} />${
            !isLost(one) && html` <small>stopped</small>`}</td>
          <td data-name="on">${one.node && html`<a href=${page.href({
            view: 'node', name: one.node })}>${one.node}</a>`}</td>
          <td class="whole">${one.says}</td>
          <td><a class="code" href=${page.keep({ entry: one.entry })}
            >${one.entry}</a></td>
        </tr>`)}</tbody>
    </table>
    ${left > 0 && html`<p class="quiet">and ${counted(left, `more ${part}`)}</p>`}
  `;
}

/**
 * What happened to each node, nodes with the same verdict together.
 * @param {{page: import('../page.js').Page, ending: any}} given
 */
function OnNodes({ page, ending }) {
  const groups = alike(ending.verdicts);
  if (groups.length === 0) return null;
  return html`
    <h2>What happened to the nodes</h2>
    <ul class="on-nodes">
      ${groups.map((group) => html`
        <li key=${group[0].id}>${group[0].sentence}
          ${' '}<${Sure} verdict=${group[0]} />
          ${' '}<small>${group.length > 1 && `and ${group.length - 1} alike: `}
            <${Nodes} page=${page} ending=${ending}
              nodes=${group.map(({ node }) => node)} /></small></li>`)}
      ${ending.moreVerdicts.map((/** @type {any} */ more) => html`
        <li key="${more.happened} ${more.cause}">and ${counted(
          more.nodes, 'more node')}: ${more.happened} (${more.cause})</li>`)}
    </ul>
  `;
}

/** @param {{page: import('../page.js').Page, placements: any[]}} given */
function Pods({ page, placements }) {
  const { zone } = page.place;
  const left = placements.length - ROWS_SHOWN, part = partOf(page.place.kind);
  const when = (/** @type {string | null} */ text) => {
    const at = readInstant(text ?? '');
    return at === null ? '' : html`<time>${dayAndClock(at, zone)}</time>`;
  };
  return html`
    <p class="quiet">${counted(placements.length, part)}, in order of
      binding.</p>
    <table class="pods stacked">
      <thead><tr><th scope="col">${titled(part)}</th><th scope="col">Node</th>
        <th scope="col">Bound</th><th scope="col">Ran</th>
        <th scope="col">Ended</th><th scope="col">How</th></tr></thead>
      <tbody>${placements.slice(0, ROWS_SHOWN).map((one) => html`
        <tr key="${one.uid} ${one.boundAt}">
          <td class="whole"><${Member} page=${page} name=${one.pod}
            namespace=${one.namespace} /></td>
          <td data-name="on">${one.node && html`<a href=${page.href({ view: 'node',
            name: one.node })}>${one.node}</a>`}</td>
          <td data-name=${one.boundAt && 'bound'}>${when(one.boundAt)}</td>
          <td data-name=${one.runningAt && 'ran'}>${when(one.runningAt)}</td>
          <td data-name=${one.endedAt && 'ended'}>${when(one.endedAt)}</td>
          <td>${[phaseOf(one), one.disruption, ...one.exitCodes.map(
            (/** @type {number} */ code) => `exit ${code}`)]
            .filter(Boolean).join(', ')}</td>
        </tr>`)}</tbody>
    </table>
    ${left > 0 && html`<p class="quiet">and ${counted(left, `more ${part}`)}</p>`}
  `;
}

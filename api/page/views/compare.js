/** Two nodes, or one at two times, on one axis. */

import { html } from '../html.js';
import { ofBoth } from '../needs/compare.js';
import { readAsked } from '../time/asked.js';
import { readInstant } from '../time/instant.js';
import { dayAndClock, difference } from '../time/clock.js';
import { arranged } from '../timeline/arranging.js';
import { readied } from '../timeline/lane.js';
import { lanesOfNode } from '../timeline/ofnode.js';
import { paired } from '../timeline/pairing.js';
import { Timeline } from '../timeline/timeline.js';
import { Coverage, Empty, Trouble, Waiting } from './states.js';

/** What the view requests. */
export const needsOf = ofBoth;

/** @param {{page: import('../page.js').Page}} given */
export function Compare({ page }) {
  const { place } = page;
  const { name, zone, shift } = place;
  const other = place.other || name;
  const answers = [page.answers.of(page.nodeSlot), page.answers.of('compared')];
  const nodes = answers.map(({ data }) => data?.node ?? null);
  const failed = answers.filter(({ error }) => error !== '');
  const about = shift === 0 ? '' : `, ${difference(shift)} from it`;
  return html`
    <section class="compare" aria-labelledby="title">
      <div class="title"><h1 id="title"><small>Compare</small> ${name}
        <small> with </small> ${other}<small>${about}</small></h1></div>
      <${Others} page=${page} other=${other} />
      ${failed.map((answer) => html`<${Trouble} answer=${answer} zone=${zone}
        onRetry=${() => page.answers.retry()} />`)}
      ${nodes.some((node) => node === null)
        ? failed.length === 0 && html`<${Waiting} lines=${6}
            says="Loading both" />`
        : html`<${Both} page=${page} nodes=${nodes} other=${other} />`}
    </section>
  `;
}

/** @param {{page: import('../page.js').Page, nodes: any[], other: string}} given */
function Both({ page, nodes: [left, right], other }) {
  const { place } = page;
  const { name, zone, shift } = place;
  const lanes = (/** @type {any} */ node) => lanesOfNode(
    node.timeline, node.why.verdicts.slice(-1), page.sources, page.end);
  const isSame = other === name;
  const together = paired(lanes(left), lanes(right), {
    left: isSame ? '①' : name, right: isSame ? '②' : other, by: -shift,
  }).map(readied);
  const window = page.nodeWindow;
  const { shown, folded } = arranged(together, place, window);
  const moved = (/** @type {any} */ to) => page.go(to, { replace: true });
  return html`
    ${[[left, window.from], [right, window.from + shift]].map(([node, from], n) => html`
      <p key=${n} class="side"><b>${isSame ? '①②'[n] : node.name}</b>
        ${' '}from ${dayAndClock(from, zone)}:
        ${' '}${node.why.verdicts.at(-1)?.sentence ?? 'no incidents'}</p>
      ${!node.why.coverage.complete
        && html`<${Coverage} coverage=${node.why.coverage} zone=${zone} />`}`)}
    ${shown.length === 0
      ? html`<${Empty} says="Nothing recorded of both in this window."
          links=${[]} />`
      : html`<${Timeline} lanes=${shown} folded=${folded} pinned=${place.pinned}
          window=${window} zone=${zone} chosen=${place.entry || null}
          isOld=${false} onWindow=${moved}
          onOpen=${(/** @type {string} */ entry) => page.go({ entry })}
          onLane=${(/** @type {any} */ does, /** @type {string} */ id) =>
            page.lane(does, id, shown)} />`}
  `;
}

/**
 * What it can be compared with: another node, or another time.
 * @param {{page: import('../page.js').Page, other: string}} given
 */
function Others({ page, other }) {
  const { place } = page;
  const { name, from } = place;
  const node = page.answers.of(page.nodeSlot).data?.node;
  const gang = new Set((node?.impact.workloads ?? []).flatMap(
    (/** @type {any} */ hit) => hit.nodes));
  const incidents = page.answers.of('comparable').data?.incidents?.nodes ?? [];
  return html`
    <form class="others-of" onSubmit=${(/** @type {any} */ event) => {
      event.preventDefault();
      const { node: named, time } = event.target.elements;
      const near = page.nodeWindow.from;
      const at = readAsked(time.value, { now: page.now(), near, zone: place.zone });
      const shift = at === null ? place.shift : at - near;
      page.go({ other: named.value.trim(), shift });
    }}>
      <label>Node <input name="node" autocomplete="off" value=${other} /></label>
      <label>from <input name="time" autocomplete="off"
        placeholder="the same time" /></label>
      <button type="submit">Compare</button>
    </form>
    <p class="suggested">
      ${[...gang].filter((one) => one !== name).map((one) => html`
        <a key=${one} href=${page.keep({ other: one, shift: 0 })}
          >${one}, of the same gang</a> `)}
      ${incidents.map((/** @type {any} */ one) => {
        const at = readInstant(one.from) ?? 0;
        const began = readInstant(node?.why.verdicts.at(-1)?.beganAt ?? '') ?? from;
        if (began === null || at === began) return null;
        return html`<a key=${one.id} href=${page.keep({ other: '',
          shift: at - began })}>${name} at ${dayAndClock(at, place.zone)}</a> `;
      })}
    </p>
  `;
}

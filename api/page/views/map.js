/** Everything that is recorded of a node, small, with the window on it. */

import { html } from '../html.js';
import { readInstant } from '../time/instant.js';
import { Strip } from './strip.js';

/** @param {{page: import('../page.js').Page}} given */
export function NodeMap({ page }) {
  const found = page.answers.of('map').data?.incidents ?? null;
  const window = page.logWindow;
  if (window === null) return html`<div class="strip waiting"></div>`;
  const instants = (/** @type {any} */ one) => ({
    from: readInstant(one.from ?? '') ?? window.from,
    to: readInstant(one.to ?? '') ?? window.to,
  });
  const bars = found?.histogram.steps.map((/** @type {any} */ step) => ({
    ...instants(step), count: step.count,
  })) ?? [];
  const unseen = found?.histogram.gaps.map((/** @type {any} */ gap) => ({
    ...instants(gap), label: `gap: ${gap.resource ?? 'all resources'}`,
  })) ?? [];
  return html`
    <${Strip} window=${window} bars=${bars} unseen=${unseen}
      brush=${page.nodeWindow} zone=${page.place.zone} noun="incident"
      label="The whole recording of the node, with the window marked"
      onRange=${(/** @type {any} */ range) => page.go(range)} />
  `;
}

/** What is requested of kept metrics. */

import { METRICS } from '../ask/ofnode.js';
import { logOf, written } from '../needs.js';
import { readInstant } from '../time/instant.js';

/**
 * The metrics that were kept around the verdict that is shown.
 * @param {import('../needs.js').Ready} state
 * @returns {import('../ask/answers.js').Need[]}
 */
export function metricsOf({ known, struck }) {
  const at = readInstant(struck?.at ?? '');
  if (!struck || at === null) return [];
  return [{
    slot: 'metrics', query: METRICS, isAside: true,
    variables: {
      ...logOf(known), node: struck.node, since: written(at),
      until: written(at + 1000),
    },
  }];
}

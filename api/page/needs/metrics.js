/** What is requested of kept metrics. */

import { LOG, OF_LOG } from '../ask/fragments.js';
import { logOf, written } from '../needs.js';
import { readInstant } from '../time/instant.js';

/** Metrics that were kept of a node, and of its healthy peers. */
const METRICS = `query Metrics(${LOG}, $node: String!,
  $since: DateTime, $until: DateTime) {
  metrics(${OF_LOG}, nodes: [$node], since: $since, until: $until) {
    kept { entry node peerOf from to trouble
      charts { name says low high missing lines { thing path } }
    }
  }
}`;

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

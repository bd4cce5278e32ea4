/** What the view of a workload requests. */

import { ENDINGS, WORKLOAD } from '../ask/ofworkload.js';
import { logOf, nameOf } from '../needs.js';
import { metricsOf } from './metrics.js';

/** @typedef {import('../ask/answers.js').Need} Need */
/** @typedef {import('../needs.js').Ready} Ready */

/** @param {Ready} state @returns {Need[]} */
export function ofWorkload(state) {
  const { place, known } = state;
  const variables = {
    ...logOf(known), name: nameOf(place), since: null, until: null,
  };
  return [
    { slot: 'endings', query: ENDINGS, variables },
    { slot: 'workload', query: WORKLOAD, variables },
    ...metricsOf(state),
  ];
}

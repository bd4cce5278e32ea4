/** What the list of jobs requests. */

import { JOBS } from '../ask/ofjobs.js';
import { readJobFilter } from '../jobs/filter.js';
import { jobsSlot, logOf, olderOf, OTHERS_EVERY } from '../needs.js';
import { spanOf } from './span.js';

/** @typedef {import('../ask/answers.js').Need} Need */
/** @typedef {import('../needs.js').Ready} Ready */

/** A job and its ending are three times as long as an incident. */
const PAGE_LENGTH = 100;

/** @param {Ready} state @returns {Need[]} */
export function ofJobs({ place, known, cursorsOf, logs = [known] }) {
  const { variables: chosen } = readJobFilter(place.filter);
  return logs.flatMap((one, number) => {
    /** @type {Need} */
    const first = {
      slot: jobsSlot(one, number === 0), query: JOBS,
      variables: {
        ...logOf(one), ...spanOf(place, one), ...chosen, last: PAGE_LENGTH,
      },
      ...(number === 0 ? {} : { every: OTHERS_EVERY }),
    };
    return [first, ...olderOf(first, cursorsOf)];
  });
}

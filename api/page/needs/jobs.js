/** What the list of jobs requests. */

import { JOBS, JOBS_UP } from '../ask/ofjobs.js';
import { readJobFilter } from '../jobs/filter.js';
import { recorderOrder } from '../jobs/jobs.js';
import { jobsSlot, logOf, olderOf, OTHERS_EVERY } from '../needs.js';
import { spanOf } from './span.js';

/** @typedef {import('../ask/answers.js').Need} Need */
/** @typedef {import('../needs.js').Ready} Ready */

/** A job and its ending are three times as long as an incident. */
const PAGE_LENGTH = 100;

/** @param {Ready} state @returns {Need[]} */
export function ofJobs({ place, known, cursorsOf, logs = [known] }) {
  const { variables: chosen } = readJobFilter(place.filter);
  const { orderBy, isDown } = recorderOrder(place.sort);
  return logs.flatMap((one, number) => {
    /** @type {Need} */
    const first = {
      slot: jobsSlot(one, number === 0), query: isDown ? JOBS : JOBS_UP,
      variables: {
        ...logOf(one), ...spanOf(place, one), ...chosen, orderBy,
        last: PAGE_LENGTH,
      },
      ...(number === 0 ? {} : { every: OTHERS_EVERY }),
    };
    return [first, ...olderOf(first, cursorsOf)];
  });
}

/** The columns of the list of incidents. */

import { readInstant } from '../time/instant.js';
import { term } from '../words/plain.js';
import { severityOf, struckAt } from './traits.js';

/** @param {any} incident */
const timeOf = ({ from }) => readInstant(from) ?? 0;

/** @param {any} incident */
const lengthOf = ({ to, duration }) => to === null ? Infinity
  : duration?.seconds ?? 0;

/**
 * What each column shows, and what it is sorted by: the same thing.
 * @type {import('../ordering.js').Column[]}
 */
export const COLUMNS = [
  { id: 'time', title: 'Began', by: timeOf },
  { id: 'severity', title: 'Severity', by: (one) => -severityOf(one).rank },
  { id: 'struck', title: 'Node or rack', isWord: true,
    by: (one, places) => struckAt(one, places).title },
  { id: 'happened', title: 'Happened', isWord: true,
    by: ({ happened }) => term(happened) },
  { id: 'length', title: 'For', by: lengthOf },
  { id: 'cause', title: 'Cause', isWord: true, by: ({ cause }) => term(cause) },
  { id: 'jobs', title: 'Jobs', by: ({ totals }) => totals.workloads },
  { id: 'lost', title: 'GPU-hours lost',
    by: ({ totals }) => totals.gpuHoursAttributed },
  { id: 'confidence', title: 'Confidence', by: ({ confidence }) =>
    ['UNKNOWN', 'POSSIBLE', 'LIKELY', 'PROVEN'].indexOf(confidence) },
];

/** The queries of the list of jobs. */

import { ACTOR, COVERAGE, LOG, OF_LOG, SLURM } from './fragments.js';

/** Workloads with what ended them last. */
export const JOBS = `query Jobs(${LOG}, $since: DateTime, $until: DateTime,
  $namespaces: [String!], $kinds: [String!], $states: [WorkloadState!],
  $endedBy: [String!], $node: String, $rack: String, $text: String,
  $queues: [String], $priorities: [String], $users: [String],
  $orderBy: WorkloadOrder, $last: Int, $before: String) {
  workloads(${OF_LOG}, since: $since, until: $until, namespaces: $namespaces,
    kinds: $kinds, states: $states, endedBy: $endedBy, node: $node, rack: $rack,
    queues: $queues, priorities: $priorities, users: $users,
    text: $text, orderBy: $orderBy, last: $last, before: $before) {
    nodes { kind namespace name uid ${SLURM} gangSize gpus state beganAt waitingSince
      endedAt restarts endings gpuHoursLost gpuHoursSinceCheckpoint
      hoursWanted hoursInFull
      lastEnding { id endedBy at confidence sentence actor { ${ACTOR} }
        preemptor { kind namespace name actor { ${ACTOR} } }
        verdict { cause fault { class }
          decision { class actor { ${ACTOR} } } } } }
    facets { facet words { word count } }
    totals { workloads endings gpuHoursLost }
    pageInfo { hasPreviousPage startCursor }
    ${COVERAGE}
  }
}`;

/** The same from the other end: what is older there is what follows. */
export const JOBS_UP = JOBS
  .replace('last: $last, before: $before', 'first: $last, after: $before')
  .replace('hasPreviousPage startCursor',
    'hasPreviousPage: hasNextPage startCursor: endCursor');

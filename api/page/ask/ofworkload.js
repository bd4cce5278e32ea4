/** The queries of a workload. */

import { COVERAGE, LOG, OF_LOG, PLACEMENT, ACTOR, SLURM } from './fragments.js';

/** A workload over nodes and time. */
export const WORKLOAD = `query Workload(${LOG}, $name: String!,
  $since: DateTime, $until: DateTime) {
  workload(${OF_LOG}, name: $name, since: $since, until: $until) {
    workload { kind namespace name uid group }
    isGang gpus nodes ranInFullAt
    placements { ${PLACEMENT} }
    ${COVERAGE}
  }
}`;

/** What ended a workload, and why. */
export const ENDINGS = `query Endings(${LOG}, $name: String!,
  $since: DateTime, $until: DateTime) {
  whyWorkload(${OF_LOG}, name: $name, since: $since, until: $until) {
    note workload { kind namespace name } ${SLURM} pod state since sentence
    obstacles { entry at says }
    endings { id endedBy at nodes pods podCount outcome runningAgainAt gpuHoursLost
      confidence sentence stopped
      members { pod node says entry }
      container { name exitCode reason }
      actor { ${ACTOR} } preemptor { kind namespace name pod actor { ${ACTOR} } }
      evidence { entry at says } missing { evidence wouldTell }
      verdict { cause fault { class } decision { class actor { ${ACTOR} } }
        steps { role at says actor { name tool } entries }
        evidence { entry at says } }
      verdicts { id node happened cause confidence sentence beganAt at
        backInServiceAt fault { class } decision { class actor { ${ACTOR} } } }
      moreVerdicts { happened cause nodes } }
    ${COVERAGE}
  }
}`;

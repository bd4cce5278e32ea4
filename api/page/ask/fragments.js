/** What several queries of the page ask for. */

export const COVERAGE = `coverage { complete since until says moreGaps
  gaps { id source resource from to reason proved possible healed } }`;

export const GAP = 'id source resource from to reason proved possible healed';

export const WORKLOAD_HIT = `workload { kind namespace name uid group } hitBy
  nodes gangSize gpus outcome hitAt runningAgainAt
  gpuHoursLost gpuHoursSinceCheckpoint evidence says`;

export const VERDICT = `id node happened bootIdBefore bootIdAfter
  beganAt at backInServiceAt
  duration { kind seconds atMost }
  downSeconds awaySeconds
  mode cause
  fault { class says at }
  decision { class says at actor { kind name tool }
    carriedOutBy { name } }
  sentence confidence
  steps { role at says actor { name tool } entries }
  evidence { entry at says }
  evidenceLeftOut gaps
  rivals { cause excluded because }
  contradictions { entry says but }
  missing { evidence wouldTell }`;

export const REFERENCE = 'group kind namespace name uid';

export const AUTHOR = 'knownBy name onBehalfOf client address pod entry';
export const ENTRY = `name operation source resource resourceVersion node reason
  actor occurredAt observedAt recordedAt says object { ${REFERENCE} }`;

export const CHANGE = 'changed { path change old new }';
export const WRITERS = 'writers { name operation subresource at }';
export const LOG = '$log: ID';
export const OF_LOG = 'log: $log';

export const PLACEMENT = `namespace pod uid node gpus boundAt runningAt deletingAt
  endedAt phase disruption exitCodes entries
  workload { kind namespace name uid group }`;

export const ACTOR = 'kind name tool';

/** The names that Slurm files a job under. */
export const SLURM = 'slurm { name user account partition qos }';

/** The queries of a node. */

import {
  COVERAGE, GAP, WORKLOAD_HIT, VERDICT, REFERENCE, LOG, OF_LOG, PLACEMENT,
} from './fragments.js';

/** What happened last to a node: the view without a window. */
export const LATEST = `query Latest(${LOG}, $node: String!) {
  why(${OF_LOG}, node: $node) {
    verdicts { id beganAt at backInServiceAt }
  }
}`;

/** Everything of a node in a window. */
export const NODE = `query Node(${LOG}, $node: String!, $since: DateTime,
  $until: DateTime) {
  node(${OF_LOG}, name: $node) {
    name
    why(since: $since, until: $until) {
      verdicts { ${VERDICT} } ${COVERAGE}
    }
    impact(since: $since, until: $until) {
      workloads { ${WORKLOAD_HIT} }
      totals { workloads pods gpus gpuHoursLost }
      coverage { complete }
    }
    timeline(since: $since, until: $until) {
      service { from to state entry }
      conditions { type from to status reason message isFault entry }
      boots { bootId from to entry }
      taints { key effect value from to actor entry }
      cordons { from to actor entry }
      placements { ${PLACEMENT} }
      dpus {
        cluster node
        service { from to state entry }
        conditions { type from to status reason message isFault entry }
      }
      facts { entry index kind at actor says type
        object { ${REFERENCE} } }
      unknownTypes moreFacts
      gaps { ${GAP} }
    }
  }
}`;

/** The whole recording of a node, small, and what lies nearest to a window. */
export const MAP = `query Map(${LOG}, $node: String!, $since: DateTime,
  $steps: Int!) {
  incidents(${OF_LOG}, node: $node, since: $since, last: 1, steps: $steps) {
    nodes { from sentence }
    histogram { steps { from to count } gaps { resource from to } }
    nearest { before { at says } }
  }
}`;

/** When else something happened to a node, to compare with. */
export const COMPARABLE = `query Comparable(${LOG}, $node: String!,
  $since: DateTime) {
  incidents(${OF_LOG}, node: $node, since: $since, last: 10, steps: 1) {
    nodes { id from }
  }
}`;

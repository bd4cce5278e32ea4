/** The queries of the fleet. */

import { COVERAGE, GAP, LOG, OF_LOG } from './fragments.js';

/** Incidents of all nodes. */
export const INCIDENTS = `query Incidents(${LOG}, $since: DateTime,
  $until: DateTime, $happened: [Happened!], $causes: [Cause!],
  $confidence: [Confidence!], $node: String, $workload: String,
  $racks: [String], $namespaces: [String], $controllers: [String],
  $last: Int, $before: String, $steps: Int!) {
  incidents(${OF_LOG}, since: $since, until: $until, happened: $happened,
    causes: $causes, confidence: $confidence, node: $node,
    workload: $workload, racks: $racks, namespaces: $namespaces,
    controllers: $controllers, last: $last, before: $before, steps: $steps) {
    count facets { facet words { word count } }
    nodes { id happened cause nodes from to group sentence confidence
      duration { kind seconds atMost }
      verdicts { id node at beganAt backInServiceAt
        fault { class } decision { class actor { name tool } } }
      workloads { workload { kind namespace name } gpuHoursAttributed }
      totals { workloads pods gpus gpuHoursAttributed } }
    places { node key value }
    pageInfo { hasPreviousPage startCursor }
    histogram { stepSeconds steps { from to count } gaps { ${GAP} } }
    nearest { before { at node entry says } after { at node entry says } }
    ${COVERAGE}
  }
}`;

/** Recent incidents, to count what recurs. */
export const RECENT = `query Recent(${LOG}, $since: DateTime) {
  incidents(${OF_LOG}, since: $since, last: 500, steps: 1) {
    nodes { id happened from nodes }
  }
}`;

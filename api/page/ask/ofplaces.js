/** The queries of places: which there are, and what happened at one. */

import { COVERAGE, LOG, OF_LOG } from './fragments.js';

/** The places at a time, with the nodes behind them. */
export const PLACES = `query Places(${LOG}, $at: DateTime) {
  places(${OF_LOG}, at: $at) {
    places { name nodes }
    conflicts { node holds holdsBy other otherBy }
    ${COVERAGE}
  }
}`;

/** What is behind a place, was claimed of it, and happened to its nodes. */
export const PLACE = `query Place(${LOG}, $name: String!, $since: DateTime,
  $until: DateTime) {
  place(${OF_LOG}, name: $name, since: $since, until: $until) {
    name undated
    relations { child relation from to witness }
    claims { entry at type isKnown source says }
    minutes { at claims }
    ${COVERAGE}
  }
  incidents(${OF_LOG}, place: $name, since: $since, until: $until,
    last: 100, steps: 1) {
    nodes { id happened cause nodes from sentence
      verdicts { id node at beganAt } }
  }
}`;

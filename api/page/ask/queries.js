/** The queries of the page that no view has for itself. */

import { REFERENCE, LOG, OF_LOG } from './fragments.js';

/** Whether the server responds. */
export const PULSE = 'query Pulse { __typename }';

/** Which logs there are, and how current they are: requested continually. */
export const OVERVIEW = `query Overview {
  status {
    now
    away { cluster why }
    clusters {
      name uid
      log { id kind }
      sources { source resource state beganAt vouchedUntil lastFrameAt }
      coverage { until provenUntil }
    }
  }
}`;

/** What ended a workload, in one sentence each. */
export const ENDED = `query Ended(${LOG}, $name: String!) {
  whyWorkload(${OF_LOG}, name: $name) { sentence endings { sentence } }
}`;

/** What a search finds. */
export const SEARCH = `query Search(${LOG}, $text: String!, $first: Int) {
  search(${OF_LOG}, text: $text, first: $first) {
    more
    hits { kind title node entry object { ${REFERENCE} } }
  }
}`;

/** The report of an incident, as the command writes it. */
export const POSTMORTEM = `query Postmortem(${LOG}, $subject: String!,
  $since: DateTime, $until: DateTime, $ofWorkload: Boolean!) {
  postmortem(${OF_LOG}, subject: $subject, since: $since, until: $until,
    ofWorkload: $ofWorkload) {
    markdown html
  }
}`;

/** Notice of new facts; views request what they show themselves. */
export const FACTS_CAME = `subscription FactsCame(${LOG}, $after: String) {
  facts(${OF_LOG}, after: $after) { cursor facts { entry } }
}`;

/** The queries of the sources. */

import { GAP, LOG, OF_LOG } from './fragments.js';

/** What is recorded. */
export const SOURCES = `query Sources {
  status {
    now
    database { version embedded bytes diskFreeBytes }
    clusters {
      name uid kubernetes
      log { id kind size recordedAt entriesPerMinute }
      sources { source resource state beganAt vouchedUntil lastFrameAt
        lagSeconds entries gap { ${GAP} } }
      audit { state records says }
      openGaps { ${GAP} }
      coverage { complete since until provenUntil says }
    }
  }
}`;

/** Outages of a log and the gaps that they are made of. */
export const GAPS = `query Gaps(${LOG}) {
  gaps(${OF_LOG}) {
    more
    gaps { ${GAP} }
    outages { from to reason gaps resources possible moreChanged
      changed { object change entry } }
  }
}`;

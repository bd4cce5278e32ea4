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

/** Gaps of a log, for the page about its sources. */
export const GAPS = `query Gaps(${LOG}) {
  gaps(${OF_LOG}) { more gaps { ${GAP} } }
}`;

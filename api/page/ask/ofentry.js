/** The query of an entry. */

import { COVERAGE, AUTHOR, ENTRY, CHANGE, WRITERS } from './fragments.js';

/** One entry, opened. */
export const ENTRY_DETAIL = `query Entry($name: ID!) {
  entry(name: $name) {
    entry { ${ENTRY} } raw document
    facts { entry index kind at occurredAt actor says }
    previous { name observedAt }
    ${CHANGE} ${WRITERS} author { ${AUTHOR} } ${COVERAGE}
  }
}`;

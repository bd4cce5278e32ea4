/** The queries of an object and of an entry. */

import { COVERAGE, AUTHOR, ENTRY, CHANGE, WRITERS, LOG, OF_LOG } from './fragments.js';

/** The versions of an object. */
export const OBJECT = `query Object(${LOG}, $name: String!, $last: Int,
  $before: String) {
  object(${OF_LOG}, name: $name) {
    kind namespace name uids
    versions(last: $last, before: $before) {
      nodes { entry { ${ENTRY} } begins uidBefore ${WRITERS}
        author { ${AUTHOR} } ${CHANGE} }
      pageInfo { hasPreviousPage startCursor }
      heartbeats { count lastAt }
      ${COVERAGE}
    }
  }
}`;

/** Who changed each field of an object last. */
export const WHO = `query Who(${LOG}, $name: String!, $time: DateTime) {
  object(${OF_LOG}, name: $name) {
    who(time: $time) {
      entry { observedAt } created { ${AUTHOR} } deleted { ${AUTHOR} }
      fields { path change entry { name observedAt } author { ${AUTHOR} } }
    }
  }
}`;

/** Two versions of an object, compared. */
export const DIFFERENCE = `query Difference(${LOG}, $name: String!,
  $from: String!, $to: String) {
  object(${OF_LOG}, name: $name) {
    diff(from: $from, to: $to) {
      outcome from { name observedAt } to { name observedAt }
      ${CHANGE} ${WRITERS}
    }
  }
}`;

/** An object as it was. */
export const OBJECT_AT = `query ObjectAt(${LOG}, $name: String!,
  $time: DateTime) {
  object(${OF_LOG}, name: $name) {
    at(time: $time) { entry { name observedAt } document }
  }
}`;

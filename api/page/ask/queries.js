/** The queries of the page. */

const COVERAGE = `coverage { complete since until says moreGaps
  gaps { id source resource from to reason proved possible healed } }`;

const GAP = 'id source resource from to reason proved possible healed';

const WORKLOAD_HIT = `workload { kind namespace name uid group } hitBy
  firstNode nodes podsHit gangSize gpus outcome hitAt runningAgainAt
  gpuHoursLost evidence says`;

const VERDICT = `id node nodeUid happened bootIdBefore bootIdAfter
  between { last first } beganAt at backInServiceAt duration { kind atMost }
  downSeconds awaySeconds
  mode cause
  fault { class says at }
  decision { class says at actor { kind name tool }
    carriedOutBy { name } }
  sentence confidence
  steps { role at says actor { name tool } entries }
  evidence { entry role source occurredAt observedAt at says }
  evidenceLeftOut gaps
  rivals { cause excluded because }
  contradictions { entry says but }
  missing { evidence wouldTell }`;

const REFERENCE = 'group kind namespace name uid';

const AUTHOR = 'knownBy name onBehalfOf client address pod entry';
const ENTRY = `name operation source resource resourceVersion node reason
  actor occurredAt observedAt recordedAt says object { ${REFERENCE} }`;

const CHANGE = 'changed { path change old new }';
const WRITERS = 'writers { name operation subresource at }';
const LOG = '$log: ID';
const OF_LOG = 'log: $log';

const PLACEMENT = `namespace pod uid node gpus boundAt runningAt deletingAt
  endedAt restartedAt phase disruption exitCodes entries
  workload { kind namespace name uid group }`;

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
      sources { resource beganAt vouchedUntil }
      coverage { until provenUntil }
    }
  }
}`;

/** Links that the site offers. */
export const LINKS = 'query Links { links { name url } }';

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

/** When else something happened to a node, to compare with. */
export const COMPARABLE = `query Comparable(${LOG}, $node: String!,
  $since: DateTime) {
  incidents(${OF_LOG}, node: $node, since: $since, last: 10, steps: 1) {
    nodes { id from }
  }
}`;

/** What happened last to a node: the view without a window. */
export const LATEST = `query Latest(${LOG}, $node: String!) {
  why(${OF_LOG}, node: $node) {
    verdicts { id beganAt at backInServiceAt } ${COVERAGE}
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
      facts { entry index kind at occurredAt observedAt actor says detail
        object { ${REFERENCE} } }
      moreFacts
      gaps { ${GAP} }
      ${COVERAGE}
    }
  }
}`;

/** One entry, opened. */
export const ENTRY_DETAIL = `query Entry($name: ID!) {
  entry(name: $name) {
    entry { ${ENTRY} } raw document
    facts { entry index kind at occurredAt actor says }
    previous { name observedAt }
    ${CHANGE} ${WRITERS} author { ${AUTHOR} } ${COVERAGE}
  }
}`;

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

/** What ended a workload, in one sentence each. */
export const ENDED = `query Ended(${LOG}, $name: String!) {
  whyWorkload(${OF_LOG}, name: $name) { sentence endings { sentence } }
}`;

const ACTOR = 'kind name tool';

/** What ended a workload, and why. */
export const ENDINGS = `query Endings(${LOG}, $name: String!,
  $since: DateTime, $until: DateTime) {
  whyWorkload(${OF_LOG}, name: $name, since: $since, until: $until) {
    state since sentence
    endings { id endedBy at nodes pods outcome runningAgainAt gpuHoursLost
      confidence sentence stopped
      members { pod node says entry }
      container { name exitCode reason }
      actor { ${ACTOR} } preemptor { kind namespace name pod actor { ${ACTOR} } }
      evidence { entry at says } missing { evidence wouldTell }
      verdict { steps { role at says actor { name tool } entries }
        evidence { entry at says } }
      verdicts { id node happened cause confidence sentence beganAt at
        backInServiceAt fault { class } decision { class actor { ${ACTOR} } } } }
    ${COVERAGE}
  }
}`;

/** What a search finds. */
export const SEARCH = `query Search(${LOG}, $text: String!, $first: Int) {
  search(${OF_LOG}, text: $text, first: $first) {
    more
    hits { kind title node entry object { ${REFERENCE} } }
  }
}`;

/** Gaps of a log, for the page about its sources. */
export const GAPS = `query Gaps(${LOG}) {
  gaps(${OF_LOG}) { more gaps { ${GAP} } }
}`;

/** The report of an incident, as the command writes it. */
export const POSTMORTEM = `query Postmortem(${LOG}, $subject: String!,
  $since: DateTime, $until: DateTime) {
  postmortem(${OF_LOG}, subject: $subject, since: $since, until: $until) {
    markdown html
  }
}`;

/** Notice of new facts; views request what they show themselves. */
export const FACTS_CAME = `subscription FactsCame(${LOG}, $after: String) {
  facts(${OF_LOG}, after: $after) { cursor facts { entry } }
}`;

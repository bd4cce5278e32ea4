import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lanesOfNode } from '../../../api/page/timeline/ofnode.js';
import { stepsTogether } from '../../../api/page/timeline/detail.js';
import { readableOn } from '../../../api/page/timeline/palette.js';
import { readFilter, toggled } from '../../../api/page/words/filter.js';
import {
  because, incidentsOf, lasted,
} from '../../../api/page/words/incident.js';
import { entryMarkdown } from '../../../api/page/words/markdown.js';
import {
  counted, gpuHours, objectName, rounded, size, valueText,
} from '../../../api/page/words/plain.js';
import {
  beganAt, clusterOf, endOf, fleetOf, leftOutOf, recordingOf, searchedOf,
  withoutEnd,
} from '../../../api/page/words/recording.js';
import { partOf, slurmNames } from '../../../api/page/words/workload.js';
import { readInstant } from '../../../api/page/time/instant.js';

const incident = (given) => ({
  id: '1/9', happened: 'REBOOT', cause: 'HUNG_KERNEL', nodes: ['gpu-1'],
  from: '2026-11-21T03:14:07Z', to: '2026-11-21T03:20:19Z', group: 'NODE',
  duration: { kind: 'DOWN', seconds: 371.6, atMost: true },
  sentence: 'gpu-1 rebooted.', confidence: 'PROVEN', workloads: [],
  verdicts: [{ fault: { class: 'HUNG_KERNEL' }, decision: null }],
  totals: { workloads: 0, gpus: 0, gpuHoursLost: 0 }, ...given,
});

test('an incident is described in one line', () => {
  const decision = { class: 'AUTO_REMEDIATION' };
  const [verdict] = incident().verdicts;

  assert.equal(lasted(incident()), '6 min 12 s at most');
  assert.equal(lasted(incident({ duration: null })), '');
  assert.equal(lasted(incident({ to: null })), 'not back');
  assert.equal(lasted(incident({ to: null, happened: 'DEGRADED' })), 'lasting');
  assert.equal(because(incident()), 'hung-kernel');
  assert.equal(because(incident({ verdicts: [{ ...verdict, decision }] })),
    'hung-kernel → auto-remediation');
  assert.equal(
    because(incident({ cause: 'UNRECORDED', verdicts: [{}] })),
    'cause unknown');
});

test('pages are put together newest first, each incident once', () => {
  const page = (...ids) => ({
    incidents: { nodes: ids.map((id) => incident({ id })) },
  });
  const found = incidentsOf([page('1/3', '1/4'), page('1/1', '1/2', '1/3')], []);

  assert.deepEqual(found.map(({ id }) => id), ['1/4', '1/3', '1/2', '1/1']);
});

test('a filter asks for what the recorder selects, and looks for the rest', () => {
  const { variables, words } = readFilter(
    'hung-kernel Proven node:gpu-1 job:llm rack-7');

  assert.deepEqual(variables, {
    causes: ['HUNG_KERNEL'], confidence: ['PROVEN'], node: 'gpu-1',
    workload: 'llm',
  });
  assert.deepEqual(words, ['rack-7']);
});

test('of what a facet lists any is enough, and none selects what has none', () => {
  const { variables, words } = readFilter(
    'rack:r7 rack:none namespace:train cause:hung-kernel');

  assert.deepEqual(variables, {
    causes: ['HUNG_KERNEL'], racks: ['r7', null], namespaces: ['train'],
  });
  assert.deepEqual(words, []);
  assert.equal(toggled('proven', 'rack:r7'), 'proven rack:r7');
  assert.equal(toggled('proven rack:r7', 'proven'), 'rack:r7');
});

test('numbers are as long as they are worth', () => {
  assert.equal(rounded(0.2421), '0.24');
  assert.equal(rounded(1234.5), '1,235');
  assert.equal(gpuHours(0.0354), '0.04');
  assert.equal(counted(1, 'job'), '1 job');
  assert.equal(size(43_000_000), '43 MB');
  assert.equal(valueText({ a: 1 }), '{"a":1}');
  assert.equal(objectName({ kind: 'Node', namespace: null, name: 'x' }), 'node/x');
});

const NODES = 'v1/nodes';
const cluster = (kind, until, provenUntil = until) => ({
  name: 'prod', uid: 'u', log: { id: '1', kind },
  coverage: { until, provenUntil },
  sources: [
    {
      source: 'WATCH', resource: NODES, beganAt: '2026-11-21T03:00:00Z',
      vouchedUntil: until,
    },
    { resource: 'example.com/v1/late', beganAt: '2026-11-21T09:00:00Z' },
  ],
});

test('the head says in words how far the recorder is', () => {
  const status = { now: '2026-11-21T12:00:00Z' };
  const of = (until) =>
    recordingOf(status, cluster('LIVE', status.now, until), 'utc');

  assert.deepEqual(of('2026-11-21T11:59:58Z'), {
    tone: 'live', says: 'proven up to 2 s ago',
  });
  assert.deepEqual(of('2026-11-21T11:50:00Z'), {
    tone: 'behind', says: '10 min behind, last data 11:50:00',
  });
  assert.equal(of(null).tone, 'behind');
});

test('no proof will come of a live log that no recorder writes', () => {
  const until = '2026-11-21T11:27:26Z';
  const of = (kind, state) => {
    const one = cluster(kind, until);
    return endOf({ ...one, sources: [{ ...one.sources[0], state }] });
  };

  assert.equal(of('LIVE', 'WATCHING'), readInstant(until));
  assert.equal(of('LIVE', 'STOPPED'), null);
  assert.equal(of('TAPE', 'STOPPED'), readInstant(until));
});

test('of a log that no recorder writes the head says until when, not how long ago', () => {
  const status = { now: '2026-11-21T11:27:28Z' };
  const of = (state, until) => {
    const one = cluster('LIVE', until);
    const sources = one.sources.map((source) => ({ ...source, state }));
    return recordingOf(status, { ...one, sources }, 'utc');
  };

  assert.deepEqual(of('STOPPED', '2026-11-21T11:27:26Z'), {
    tone: 'behind',
    says: 'not being recorded, proven until 21 Nov 2026, 11:27:26 UTC',
  });
  assert.deepEqual(of('STOPPED', null), {
    tone: 'behind', says: 'not being recorded, nothing proven',
  });
  assert.equal(of('LIVE', '2026-11-21T11:27:26Z').tone, 'live');
});

test('a tape lasts until its record ends, however far it is proven', () => {
  const tape = cluster('TAPE', '2026-11-21T11:27:26Z', '2026-11-21T11:27:13Z');

  assert.deepEqual(recordingOf({ now: '2026-12-01T00:00:00Z' }, tape, 'utc'), {
    tone: 'tape', says: 'tape until 21 Nov 2026, 11:27:26 UTC',
  });
});

test('a log of dumps is none of a tape, and shows of when it is', () => {
  const ofDumps = (source, state) => ({
    ...cluster('TAPE', '2026-11-21T11:27:26Z'),
    sources: [
      { source, state, beganAt: null, lastFrameAt: '2026-11-21T11:20:00Z' },
      { source, state, beganAt: null, lastFrameAt: '2026-11-21T11:19:00Z' },
    ],
  });
  const says = (of) => recordingOf({}, of, 'utc').says;

  assert.equal(says(ofDumps('WATCH', 'ENDED')),
    'imported dump of 21 Nov 2026, 11:20:00 UTC: one state, and Events');
  assert.equal(says(ofDumps('AUDIT', 'STOPPED')), 'imported audit log');
});

test('what was imported has gaps to its end, and none that is open', () => {
  assert.equal(withoutEnd('imported: objects are known only as of x'),
    'to the end');
  assert.equal(withoutEnd('the watch ended'), 'still open');
});

test('a log begins when all was recorded that verdicts rest on', () => {
  assert.equal(beganAt(cluster('LIVE', null)),
    readInstant('2026-11-21T03:00:00Z'));
});

test('a live log comes before a tape, and one that is not there is none', () => {
  const tape = cluster('TAPE', null);
  const live = { ...cluster('LIVE', null), log: { id: '2', kind: 'LIVE' } };
  const status = { clusters: [tape, live] };

  assert.equal(clusterOf(status, { cluster: '', log: '' }), live);
  assert.equal(clusterOf(status, { cluster: '', log: '1' }), tape);
  assert.equal(clusterOf(status, { cluster: 'other', log: '' }), null);
});

test('more live logs than are asked at once are on pages, and tapes are named', () => {
  const clusters = Array.from({ length: 60 }, (_, n) => (
    { ...cluster('LIVE', null), log: { id: `${n}`, kind: 'LIVE' } }));
  const status = { clusters: [...clusters, cluster('TAPE', null)] };
  const place = (page) => ({ cluster: '', log: '', page });

  assert.equal(fleetOf(status, place(1)).length, 50);
  assert.deepEqual(fleetOf(status, place(2)).map(({ log }) => log.id),
    ['50', '51', '52', '53', '54', '55', '56', '57', '58', '59']);
  assert.deepEqual(leftOutOf(status, place(2)),
    { page: 2, first: 51, last: 60, hasNext: false, count: 60, tapes: 1 });
  assert.equal(fleetOf(status, { ...place(2), log: '7' }).length, 1);
  assert.equal(searchedOf(status, '55')[0].log.id, '55');
});

test('what a cluster says cannot become markup of a ticket', () => {
  const markdown = entryMarkdown({
    entry: {
      name: '1/2', operation: 'ADDED', object: null, occurredAt: null,
      observedAt: '2026-11-21T03:00:00Z', recordedAt: '2026-11-21T03:00:01Z',
    },
    facts: [{ says: '<img> [x](y) `z`\n# no title' }],
    changed: [{ path: 'spec.x', old: 1, new: null }],
    writers: [],
  }, 'utc');

  assert.match(markdown, /\\<img\\> \\\[x\\\]\(y\) \\`z\\` \\# no title/);
  assert.match(markdown, /^- spec\.x: 1$/m);
});

test('text on a colour is read in either scheme', () => {
  assert.equal(readableOn('#000000'), '#ffffff');
  assert.equal(readableOn('#ffffff'), '#101215');
  assert.equal(readableOn('#56b4e9'), '#101215');
});

test('numbers that would hide each other are put together', () => {
  assert.deepEqual(
    stepsTogether([{ x: 10, step: 3 }, { x: 12, step: 1 }, { x: 90, step: 4 }])
      .map(({ text }) => text),
    ['1 3', '4']);
});

test('a gap lies on the lanes that rest on what was not seen, and no other', () => {
  const at = (second) => `2026-11-21T03:00:${second}Z`;
  const timeline = {
    service: [], boots: [], taints: [], cordons: [], facts: [],
    conditions: [{
      type: 'Ready', from: null, to: null, status: 'True', reason: null,
      isFault: false, entry: null,
    }],
    placements: [{
      namespace: 'train', pod: 'llm-0', boundAt: at('01'), runningAt: at('02'),
      deletingAt: null, endedAt: null, phase: 'Running', disruption: null,
      entries: [], workload: { kind: 'Job', namespace: 'train', name: 'llm' },
    }],
    gaps: [{
      resource: 'v1/pods', from: at('10'), to: at('20'), reason: 'expired',
    }],
    dpus: [
      { cluster: 'dpus', node: 'dpu-1', service: [], conditions: [{
        type: 'UplinkHealthy', from: at('05'), to: null, status: 'False',
        reason: null, isFault: true, entry: '2/28',
      }] },
      { cluster: 'dpus-b', node: null, service: [], conditions: [] },
    ],
  };
  const sources = [{
    resource: 'v1/nodes', beganAt: at('00'), vouchedUntil: at('30'),
  }];
  const lanes = new Map(
    lanesOfNode(timeline, [], sources, null).map((lane) => [lane.title, lane]));
  const seen = (title) => lanes.get(title).unseen.map(({ label }) => label);

  assert.deepEqual(seen('train/llm'), ['gap: v1/pods, expired']);
  assert.deepEqual(seen('Ready'),
    ['before recording started', 'not confirmed complete yet']);
  const live = lanesOfNode(timeline, [], sources, readInstant(at('30')) + 60_000);
  const [, edge] = live.find(({ title }) => title === 'Ready').unseen;
  assert.equal(edge.from, readInstant(at('30')) + 60_000, 'of a live log: not yet');
  assert.equal(seen('recorder').length, 3);
  // DPUs are beside their host; a log that is away is named.
  assert.equal(lanes.get('DPU UplinkHealthy').spans[0].tone, 'degraded');
  assert.deepEqual(seen('DPU UplinkHealthy'), []);
  assert.equal(lanes.get('DPU').spans[0].label,
    'not recorded: the log of dpus-b cannot be read');
});

test('a job of Slurm has members, and whose it is', () => {
  assert.deepEqual(['SlurmJob', 'slurmjob', 'Job'].map(partOf),
    ['member', 'member', 'Pod']);
  assert.equal(slurmNames(undefined), '');
  assert.equal(slurmNames({ name: 'llm', user: 'ann', account: null,
    partition: 'train', qos: 'high' }),
    'llm, user ann, partition train, QOS high');
});

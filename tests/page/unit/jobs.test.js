import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readJobFilter } from '../../../api/page/jobs/filter.js';
import { JOB_COLUMNS, jobsOf } from '../../../api/page/jobs/jobs.js';
import { needsOf } from '../../../api/page/needs.js';
import { ofJobs } from '../../../api/page/needs/jobs.js';
import { nextOrder } from '../../../api/page/ordering.js';
import { readPlace } from '../../../api/page/route/place.js';
import { commandOf } from '../../../api/page/words/copying.js';
import {
  alike, endedBy, endedByWhom, pathOf,
} from '../../../api/page/words/ending.js';
import { lanesOfWorkload } from '../../../api/page/timeline/ofworkload.js';

const log = (id) => ({
  log: id, name: `c${id}`, kind: 'TAPE', began: 0, until: 3_600_000,
});
const job = (name, given) => ({
  kind: 'Job', namespace: 'train', name, gpus: 8, state: 'RUNNING', restarts: 0,
  beganAt: '2026-11-21T03:00:00Z', endings: 0, gpuHoursLost: 0, hoursWanted: 1,
  hoursInFull: 1, lastEnding: null, ...given,
});
const ending = (given) => ({
  id: '1/5', endedBy: 'PREEMPTION', at: '2026-11-21T03:10:00Z', sentence: 'It.',
  confidence: 'PROVEN', actor: null, preemptor: null, verdict: null, nodes: [],
  verdicts: [], members: [], pods: [], evidence: [], ...given,
});

test('the recorder selects by names, the page by words of verdicts', () => {
  assert.deepEqual(
    readJobFilter('any down kind:JobSet namespace:Train node:N1 llm power-loss'
      + ' queue:gpus priority:none user:bob'), {
      variables: { node: 'N1', kinds: ['jobset'], namespaces: ['Train'],
        queues: ['gpus'], priorities: [null], users: ['bob'],
        states: ['DOWN'], endedBy: ['any'], text: 'llm' },
      words: ['power-loss'],
    });
  assert.equal(
    commandOf(readPlace('/jobs?filter=any down namespace:train queue:none user:bob llm&last=12h'),
      { log: '1', verdict: null }),
    'recorder jobs --since 12h --ended-by any --state down --namespace train'
      + ' --user bob --text llm --log 1');
});

test('jobs of each log are asked for, also the pages that are open', () => {
  const needs = needsOf({
    place: readPlace('/jobs?filter=any'), known: log('1'), searched: '',
    logs: [log('1'), log('2')], partOf: () => ofJobs,
    cursorsOf: (slot) => (slot === 'jobs of 2' ? ['a'] : []),
  }).slice(2);

  assert.deepEqual(
    needs.map(({ slot, variables }) =>
      [slot, variables.log, variables.endedBy, variables.before ?? null]),
    [['jobs', '1', ['any'], null], ['jobs of 2', '2', ['any'], null],
      ['jobs of 2 0', '2', ['any'], 'a']]);
});

test('jobs of several logs are one list, the last that ended first', () => {
  const answers = {
    jobs: { nodes: [job('a', { lastEnding: ending() }), job('b')],
      totals: { workloads: 2, endings: 1, gpuHoursLost: 0.5 } },
    'jobs of 2': { nodes: [job('a', { lastEnding: ending({
      at: '2026-11-21T03:20:00Z', sentence: 'A power-loss.' }) })],
    totals: { workloads: null, endings: null, gpuHoursLost: null } },
  };
  const list = (address) => jobsOf({
    place: readPlace(address), fleetLogs: [log('1'), log('2')],
    answers: { of: (slot) => ({ data: { workloads: answers[slot] } }) },
    pagesOf: (slot) => [{ data: { workloads: answers[slot] } }],
  });
  const names = (address) =>
    list(address).jobs.map(({ cluster, name }) => `${cluster} ${name}`);

  assert.deepEqual(names('/jobs'), ['c2 a', 'c1 a', 'c1 b']);
  assert.deepEqual(names('/jobs?sort=job'), ['c2 a', 'c1 a', 'c1 b']);
  assert.deepEqual(names('/jobs?filter=power-loss'), ['c2 a']);
  assert.equal(list('/jobs').totals.workloads, null, 'one has too many');
  assert.equal(nextOrder(JOB_COLUMNS, '', 'gpus'), '-gpus');
});

test('an ending says what and who, and its path is what its first Pod says', () => {
  const preemptor = { kind: 'Job', namespace: 'prod', name: 'big',
    actor: { name: 'alice', tool: null } };
  const says = (entry, text, pod = 'llm-0') =>
    ({ entry, at: '2026-11-21T03:10:00Z', says: `pod/train/${pod}: ${text}` });
  const one = ending({ preemptor, members: [{ pod: 'llm-0' }], pods: ['llm-0'], evidence: [
    says('1/5', 'deletion requested'), says('1/6', 'Failed'),
    says('1/6', 'ended with 143'), says('1/7', 'Failed', 'llm-1'),
  ] });
  const verdict = { happened: 'REBOOT', cause: 'GPU_FAULT', confidence: 'PROVEN',
    fault: { class: 'GPU_FAULT' }, decision: { class: 'ADMIN_REQUEST',
      actor: { name: null, tool: 'kubectl-drain' } } };

  assert.equal(endedBy(one), 'preemption');
  assert.equal(endedByWhom(one), 'job/prod/big, created by alice');
  assert.deepEqual(pathOf(one).steps.map((step) => step.says),
    ['deletion requested', 'Failed; ended with 143']);
  assert.equal(endedBy(ending({ endedBy: 'NODE_FAILURE', verdict })),
    'node-failure: gpu-fault → admin-request');
  assert.equal(endedByWhom(ending({ verdict })), 'someone using kubectl-drain');
  assert.equal(alike(Array(10).fill(verdict)).length, 10);
  assert.equal(alike(Array(440).fill(verdict)).length, 1);
});

test('of a large gang the nodes are drawn on which Pods were lost', () => {
  const placements = Array.from({ length: 50 }, (_, n) => ({
    namespace: 'train', pod: `llm-${n}`, node: `n${n}`, boundAt: null,
    runningAt: null, deletingAt: null, endedAt: null, phase: 'Running',
    disruption: null, entries: [], workload: null,
  }));
  const lanes = (endings) => lanesOfWorkload(
    { placements, coverage: { gaps: [] } }, endings, [], null).map(({ title }) => title);

  assert.equal(lanes([]).length, 50);
  assert.deepEqual(lanes([ending({ nodes: ['n7'] })]), ['n7']);
});

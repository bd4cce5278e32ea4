import assert from 'node:assert/strict';
import { test } from 'node:test';

import { COLUMNS } from '../../../api/page/fleet/columns.js';
import {
  placesOf, placeWords, sharedPlace,
} from '../../../api/page/fleet/standing.js';
import {
  heatOf, hoursByNamespace, racksOf, returningWords, returnsOf,
} from '../../../api/page/fleet/sums.js';
import {
  grouped, severityOf, struckAt,
} from '../../../api/page/fleet/traits.js';
import { nextOrder, sorted } from '../../../api/page/ordering.js';
import { facetsOf } from '../../../api/page/words/counts.js';

const hit = (namespace, gpuHoursAttributed) => ({
  workload: { kind: 'Job', namespace, name: 'llm' }, gpuHoursAttributed,
});
const incident = (given) => ({
  id: '1/9', happened: 'REBOOT', cause: 'HUNG_KERNEL', nodes: ['gpu-1'],
  from: '2026-11-21T03:14:07Z', to: '2026-11-21T03:20:19Z', group: 'NODE',
  confidence: 'PROVEN', workloads: [], verdicts: [{}],
  totals: { workloads: 0, pods: 0, gpus: 0, gpuHoursAttributed: 0 }, ...given,
});
const PLACES = placesOf([{ log: '1', data: { incidents: { places: [
  { node: 'gpu-1', key: 'example.com/rack', value: 'r7' },
  { node: 'gpu-1', key: 'topology.kubernetes.io/zone', value: 'a' },
  { node: 'gpu-2', key: 'example.com/rack', value: 'r7' },
  { node: 'gpu-2', key: 'topology.kubernetes.io/zone', value: 'a' },
  { node: 'gpu-3', key: 'example.com/rack', value: 'rack-8' },
  { node: 'gpu-3', key: 'topology.kubernetes.io/zone', value: 'a' },
] } } }]);
const MANY = [
  incident({ id: '1/1', nodes: ['gpu-1', 'gpu-2'], group: 'RACK',
    workloads: [hit('train', 2), hit('serve', 1)] }),
  incident({ id: '1/2', nodes: ['gpu-3'], cause: 'UNRECORDED',
    from: '2026-11-20T03:00:00Z', workloads: [hit('train', 0.5)] }),
  incident({ id: '1/3', nodes: ['gpu-9'], from: '2026-11-21T05:00:00Z',
    verdicts: [{ decision: { actor: { name: 'kured', tool: null } } }] }),
];

test('a rack is named by its label, and a zone is too wide to be one', () => {
  const shared = (...nodes) => sharedPlace(incident({ nodes }), PLACES);

  assert.equal(placeWords(shared('gpu-1', 'gpu-2')), 'rack r7');
  assert.equal(placeWords(shared('gpu-3')), 'rack-8');
  assert.equal(shared('gpu-1', 'gpu-3'), null);
  assert.deepEqual(struckAt(MANY[0], PLACES),
    { title: 'rack r7', detail: 'gpu-1, gpu-2' });
  assert.deepEqual(struckAt(MANY[1], PLACES),
    { title: 'gpu-3', detail: 'rack-8' });
});

test('facets of several logs add up, the most frequent word first', () => {
  const rack = (...words) => [{ facet: 'RACK',
    words: words.map(([word, count]) => ({ word, count })) }];

  assert.deepEqual(facetsOf([
    rack(['r7', 2], [null, 1]), rack(['r8', 4], ['r7', 1]), [],
  ]), { rack: [
    { word: 'r8', count: 4 }, { word: 'r7', count: 3 }, { word: 'none', count: 1 },
  ] });
});

test('the list is sorted by what a column shows, and back by a second click', () => {
  const ids = (order) => sorted(COLUMNS, MANY, order, PLACES).map(({ id }) => id);

  assert.deepEqual(ids(''), ['1/3', '1/1', '1/2']);
  assert.deepEqual(ids('struck'), ['1/2', '1/3', '1/1']);
  assert.equal(nextOrder(COLUMNS, '', 'struck'), 'struck');
  assert.equal(nextOrder(COLUMNS, 'struck', 'struck'), '-struck');
  assert.equal(nextOrder(COLUMNS, '', 'lost'), '-lost');
  assert.equal(nextOrder(COLUMNS, '', 'time'), 'time');
  assert.equal(nextOrder(COLUMNS, 'time', 'time'), '');
});

test('incidents are under the word by which they are grouped', () => {
  const titles = (by, incidents = MANY, names = new Map()) =>
    grouped(incidents, by, { places: PLACES, zone: 'utc', names })
      .map(({ title, incidents: { length } }) => [title, length]);

  assert.deepEqual(titles('day'), [['21 Nov 2026', 2], ['20 Nov 2026', 1]]);
  assert.deepEqual(titles('controller'), [['none', 2], ['kured', 1]]);
  const names = new Map([['1', 'eu'], ['2', 'us']]);
  assert.deepEqual(titles('node', [MANY[1], { ...MANY[1], id: '2/2' }], names),
    [['eu: gpu-3', 1], ['us: gpu-3', 1]]);
});

test('the worst is what is not back, then what hit work', () => {
  const word = (given) => severityOf(incident(given)).word;

  assert.equal(word({ to: null }), 'not back');
  assert.equal(word({ totals: { pods: 2 } }), 'work hit');
  assert.equal(word({}), 'node only');
  assert.equal(word({ happened: 'CORDONED' }), 'minor');
  assert.equal(word({ happened: 'REMOVED', to: null }), 'node only');
  assert.equal(word({ happened: 'DEGRADED', to: null }), 'minor');
});

test('heat-maps count by day what began then, of nodes and of racks', () => {
  const window = {
    from: Date.parse('2026-11-18T12:00:00Z'), to: Date.parse('2026-11-21T12:00:00Z'),
  };
  const nodes = heatOf(MANY, { of: (one) => one.nodes, window, zone: 'utc' });
  const racks = heatOf(MANY, { of: racksOf(PLACES), window, zone: 'utc' });

  assert.equal(nodes.steps.length, 4);
  assert.deepEqual(nodes.rows.map(({ name, counts }) => [name, counts]), [
    ['gpu-1', [0, 0, 0, 1]], ['gpu-2', [0, 0, 0, 1]], ['gpu-3', [0, 0, 1, 0]],
    ['gpu-9', [0, 0, 0, 1]],
  ]);
  assert.deepEqual(racks.rows.map(({ name, total }) => [name, total]),
    [['r7', 1], ['rack-8', 1]]);
  const twice = heatOf([MANY[1], { ...MANY[1], id: '2/2' }],
    { of: (one) => one.nodes, window, zone: 'utc' });
  assert.deepEqual(twice.rows.map(({ name, log }) => [name, log]),
    [['gpu-3', '1'], ['gpu-3', '2']], 'nodes of equal name stay apart');
  assert.ok(heatOf(MANY, { of: (one) => one.nodes, zone: 'utc', window: {
    ...window, from: window.to - 3_600_000 } }).isHours);
});

test('hours by namespace add up to what is charged', () => {
  assert.deepEqual(hoursByNamespace(MANY), [
    { name: 'train', hours: 2.5 }, { name: 'serve', hours: 1 },
  ]);
});

test('a node that returns is counted over seven days, and no more', () => {
  const days = ['01', '10', '12', '16', '17'].map((day) => incident({
    id: `1/${day}`, from: `2026-11-${day}T03:00:00Z` }));
  const words = days.map((one) => returningWords(one, returnsOf(days)));

  assert.deepEqual(words, ['', '', 'second reboot in 7 days',
    'third reboot in 7 days', 'fourth reboot in 7 days']);
  assert.equal(returningWords(
    incident({ id: '1/20', happened: 'CORDONED' }), returnsOf(days)), '');
});

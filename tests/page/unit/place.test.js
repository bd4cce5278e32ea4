import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BINDINGS, actionOf } from '../../../api/page/route/keys.js';
import {
  leadingTo, readPlace, writePlace,
} from '../../../api/page/route/place.js';

const PLACES = [
  '/',
  '/?last=7d&filter=hung-kernel+proven',
  '/sources?cluster=demo',
  '/places',
  '/places/switch/leaf-7',
  '/node/gpu-002?entry=1/87&from=2026-11-21T03:00:00Z&to=2026-11-21T04:00:00Z',
  '/node/gpu-002?verdict=1/87&zone=local&folded=events&pinned=boot,service',
  '/object/pod/train/llm-0?left=1/2&right=1/9',
  '/object/node/gpu-002',
  '/workload/jobset/train/llm',
  '/?log=all&group=rack&sort=-lost',
  '/compare/gpu-002?log=3&other=gpu-005&shift=-66.5',
];

test('an address leads to the place that it was written from', () => {
  for (const address of PLACES) {
    assert.equal(writePlace(readPlace(address)), address);
  }
});

test('names with signs of an address in them survive it', () => {
  const place = {
    ...readPlace('/node/x'), name: 'a/b?c=d&e#f%', filter: 'ä&=+ ,/',
    folded: ['taint a,b:NoExecute', 'workload Job/x/y'],
  };

  assert.deepEqual(readPlace(writePlace(place)), place);
});

test('what makes no sense in an address is left out', () => {
  const place = readPlace('/node/x?from=noon&to=2026-11-21T04:00:00Z&zone=mars');

  assert.equal(place.from, null);
  assert.equal(place.zone, 'utc');
  assert.equal(readPlace('/no/such/view').name, '/no/such/view');
  assert.equal(readPlace('/').name, '');
  assert.equal(readPlace('/node/%E0%A4%A').name, '%E0%A4%A');
});

test('a window that ends before it begins is none', () => {
  const place = readPlace(
    '/?from=2026-11-21T04:00:00Z&to=2026-11-21T03:00:00Z');

  assert.deepEqual([place.from, place.to], [null, null]);
});

test('a link keeps the log and the zone and drops what was open', () => {
  const from = readPlace('/node/x?log=3&zone=local&entry=3/1&folded=events');
  const to = leadingTo(from, { view: 'node', name: 'y' });

  assert.equal(writePlace(to), '/node/y?log=3&zone=local');
});

test('every documented key does something', () => {
  for (const { keys, action } of BINDINGS) {
    for (const key of keys) {
      if (key === '–') continue;
      const pressed = {
        key: { '←': 'ArrowLeft', '→': 'ArrowRight', Esc: 'Escape' }[key] ?? key,
        ctrlKey: false, metaKey: false, altKey: false,
      };
      const asked = actionOf(pressed, 'BODY');

      assert.equal(asked?.action.replace('previous', 'next'),
        action.replace('previous', 'next'), key);
    }
  }
});

test('keys belong to the browser in text fields, or with Ctrl', () => {
  const pressed = { key: 'f', ctrlKey: false, metaKey: false, altKey: false };

  assert.equal(actionOf(pressed, 'INPUT'), null);
  assert.equal(actionOf({ ...pressed, ctrlKey: true }, 'BODY'), null);
  assert.deepEqual(actionOf({ ...pressed, key: 'Escape' }, 'INPUT'),
    { action: 'close' });
  assert.equal(actionOf({ ...pressed, key: 'Enter' }, 'A'), null);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { arranged, moved } from '../../../api/page/timeline/arranging.js';
import {
  mergeMarks, mergeSpans, room, roomBeside,
} from '../../../api/page/timeline/detail.js';
import { hitAt } from '../../../api/page/timeline/hit.js';
import { paired } from '../../../api/page/timeline/pairing.js';
import {
  TONES, firstAtOrAfter, loudness, readied, speaksIn,
} from '../../../api/page/timeline/lane.js';

const lane = (given) => readied({
  id: 'x', title: 'x', group: 'conditions', spans: [], marks: [], unseen: [],
  ...given,
});
const mark = (at, tone = 'strong', more = {}) => ({
  at, tone, label: `at ${at}`, entry: `1/${Math.round(at)}`, ...more,
});
const WHOLE = { from: 0, to: 1000 };

/** A generator of numbers that is the same in every run. */
function numbers(seed) {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

test('the first place is found as a search from the left finds it', () => {
  const next = numbers(7);
  const sorted = Float64Array.from({ length: 200 }, () => Math.round(next() * 50));
  sorted.sort();
  for (let value = -1; value < 52; value += 0.5) {
    const place = [...sorted].findIndex((one) => one >= value);
    assert.equal(firstAtOrAfter(sorted, value), place < 0 ? 200 : place);
  }
});

test('no mark is lost by merging, and the loudest of a pixel is seen', () => {
  const next = numbers(42);
  const marks = Array.from({ length: 5000 }, () =>
    mark(next() * 1200 - 100, next() < 0.01 ? 'notready' : 'strong'));
  const ready = lane({ marks });
  const merged = room(640);
  mergeMarks(ready, WHOLE, 640, merged);
  const seen = marks.filter(({ at }) => at >= 0 && at <= 1000);
  const sizes = merged.size.subarray(0, merged.count);
  const loud = seen.filter(({ tone }) => tone === 'notready');
  const shown = [...merged.tone.subarray(0, merged.count)];

  assert.equal(sizes.reduce((sum, one) => sum + one, 0), seen.length);
  assert.ok(merged.count <= 321);
  for (const { at } of loud) {
    const x = Math.round(at * 0.64);
    const near = shown.some((tone, place) =>
      tone === loudness('notready') && Math.abs(merged.x[place] - x) <= 2);
    assert.ok(near, `the fault at ${at} is seen`);
  }
});

test('a span of a moment is still a pixel wide', () => {
  const spans = [{
    from: 500, to: 500.001, tone: 'notready', label: '', entry: null,
  }];
  const merged = room(100);
  mergeSpans(lane({ spans }), WHOLE, 100, merged);

  assert.equal(merged.count, 1);
  assert.equal(merged.end[0] - merged.x[0], 1);
});

test('ten thousand short spans take no more than the pixels there are', () => {
  const spans = Array.from({ length: 10_000 }, (_, n) => ({
    from: n / 10, to: (n + 1) / 10, tone: n % 977 ? 'service' : 'notready',
    label: '', entry: null,
  }));
  const merged = room(300);
  mergeSpans(lane({ spans }), WHOLE, 300, merged);
  const sizes = [...merged.size.subarray(0, merged.count)];

  assert.ok(merged.count <= 303);
  assert.equal(sizes.reduce((sum, one) => sum + one, 0), 10_000);
  assert.ok([...merged.tone.subarray(0, merged.count)]
    .includes(loudness('notready')));
});

test('what lasts is cut at the edges of the window', () => {
  const spans = [{
    from: -Infinity, to: Infinity, tone: 'service', label: '', entry: null,
  }];
  const merged = room(100);
  mergeSpans(lane({ spans }), WHOLE, 100, merged);

  assert.deepEqual([merged.x[0], merged.end[0]], [0, 100]);
});

test('trouble is louder than peace', () => {
  for (const tone of ['degraded', 'cordoned', 'unknown', 'notready']) {
    assert.ok(loudness(tone) > loudness('service'));
    assert.ok(loudness(tone) > loudness('plain'));
  }
  assert.equal(new Set(TONES).size, TONES.length);
});

test('a step of a chain is found before another mark, a mark before a span', () => {
  const ready = lane({
    spans: [{ from: 0, to: 1000, tone: 'service', label: 'span', entry: '1/1' }],
    marks: [mark(500), mark(503, 'strong', { step: 2, entry: '1/9' })],
  });

  assert.equal(hitAt(ready, WHOLE, 1000, 501).entry, '1/9');
  assert.equal(hitAt(ready, WHOLE, 1000, 501).more, 1);
  assert.equal(hitAt(ready, WHOLE, 1000, 700).label, 'span');
});

test('what was not seen is shown before what would have been the case', () => {
  const ready = lane({
    spans: [{ from: 0, to: 1000, tone: 'service', label: 'span', entry: null }],
    unseen: [{ from: 200, to: 300, label: 'gap: v1/pods' }],
  });

  assert.equal(hitAt(ready, WHOLE, 1000, 250).label, 'gap: v1/pods');
  assert.equal(hitAt(lane({}), WHOLE, 1000, 250), null);
});

test('lanes without a mark fold by themselves, others as a person says', () => {
  const chosen = { folded: ['loud'], opened: [], pinned: [], order: [] };
  const quiet = lane({ id: 'quiet', marks: [mark(5000)], spans: [{
    from: 0, to: 9000, tone: 'plain', label: '', entry: null,
  }] });
  const loud = lane({ id: 'loud', marks: [mark(500)] });
  const all = [quiet, loud];

  assert.deepEqual(arranged(all, chosen, WHOLE).shown, []);
  assert.deepEqual(
    arranged(all, { ...chosen, folded: [] }, WHOLE).shown, [loud]);
  assert.deepEqual(arranged(
    all, { ...chosen, folded: [], opened: ['quiet'] }, WHOLE).folded, []);
  assert.ok(!speaksIn(lane({ marks: [mark(5000)] }), WHOLE));
});

test('pinned lanes are on top, and the others in the order that was chosen', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((id) => lane({ id, marks: [mark(1)] }));
  const chosen = { folded: [], opened: [], pinned: ['c'], order: ['b', 'a'] };

  assert.deepEqual(arranged([a, b, c], chosen, WHOLE).shown, [c, b, a]);
  assert.deepEqual(moved([a, b, c], 'c', -1), ['a', 'c', 'b']);
  assert.deepEqual(moved([a, b, c], 'a', -1), ['a', 'b', 'c']);
});

test('two timelines are lane by lane, the second moved to the first', () => {
  const span = { from: 100, to: Infinity, tone: 'service', label: '', entry: null };
  const of = (id, at) => lane({ id, title: id, marks: [mark(at)], spans: [span],
    unseen: [{ from: 100, to: 200, label: 'gap' }] }).lane;
  const lanes = paired([of('service', 110), of('boot', 120)],
    [of('service', 1110), of('Events', 1150)],
    { left: 'x', right: 'y', by: -1000 });

  assert.deepEqual(lanes.map(({ title }) => title),
    ['x service', 'y service', 'x boot', 'y Events']);
  assert.equal(new Set(lanes.map(({ id }) => id)).size, 4);
  assert.equal(lanes[1].marks[0].at, 110);
  assert.deepEqual([lanes[1].unseen[0].from, lanes[1].spans[0].to],
    [-900, Infinity]);
});

test('text is beside numbers, never under them', () => {
  const span = { x: 100, end: 400 };

  assert.deepEqual(roomBeside([], span, 12), { x: 112, end: 388 });
  assert.deepEqual(
    roomBeside([{ x: 115, end: 130 }, { x: 300, end: 300 }], span, 12),
    { x: 142, end: 288 });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readAge, readAsked } from '../../../api/page/time/asked.js';
import { STEPS, stepFor, ticksOf } from '../../../api/page/time/axis.js';
import {
  clock, day, difference, exactClock, span, zoneName,
} from '../../../api/page/time/clock.js';
import {
  readInstant, writeInstant, writeShort,
} from '../../../api/page/time/instant.js';
import {
  LENGTH_MIN, fitted, panned, pixelOf, timeAt, zoomed,
} from '../../../api/page/time/window.js';

const NOON = Date.UTC(2026, 10, 21, 12);
const HOUR = 3_600_000;

test('a time of the recorder is read and written without loss', () => {
  for (const text of [
    '2026-11-21T11:26:34.160701Z',
    '1970-01-01T00:00:00.000001Z',
    '2026-12-31T23:59:59.999999Z',
  ]) {
    assert.equal(writeInstant(readInstant(text)), text);
  }
});

test('a time in another zone is the same moment', () => {
  assert.equal(
    readInstant('2026-11-21T14:00:00+02:00'), readInstant('2026-11-21T12:00:00Z'),
  );
});

test('what has no zone is no time', () => {
  assert.equal(readInstant('2026-11-21T12:00:00'), null);
  assert.equal(readInstant('yesterday'), null);
  assert.equal(readInstant('2026-13-41T12:00:00Z'), null);
});

test('the short form leaves nothing but zeros out', () => {
  assert.equal(writeShort(NOON), '2026-11-21T12:00:00Z');
  assert.equal(writeShort(NOON + 0.25), '2026-11-21T12:00:00.00025Z');
  assert.equal(readInstant(writeShort(NOON + 120)), NOON + 120);
});

test('a span is shown in its two largest units', () => {
  assert.equal(span(372_000), '6 min 12 s');
  assert.equal(span(400), '400 ms');
  assert.equal(span(1500), '1.5 s');
  assert.equal(span(59_999), '1 min');
  assert.equal(span(2 * 86_400_000 + 3 * HOUR + 5), '2 d 3 h');
});

test('a difference has a sign', () => {
  assert.equal(difference(-1500), '−1.5 s');
  assert.equal(difference(90_000), '+1 min 30 s');
});

test('a time of day is written with its zone and its day', () => {
  assert.equal(clock(NOON, 'utc'), '12:00:00');
  assert.equal(exactClock(NOON + 7.9, 'utc'), '12:00:00.007');
  assert.equal(day(NOON, 'utc'), '21 Nov 2026');
  assert.equal(zoneName('utc', NOON), 'UTC');
});

test('ticks are at round times and never run together', () => {
  for (const width of [200, 640, 1400]) {
    for (let length = 30; length < 1e11; length *= 3.7) {
      const window = { from: NOON - length / 3, to: NOON + length };
      const step = stepFor(window.to - window.from, width);
      const ticks = ticksOf(window, width, 'utc');

      assert.ok(ticks.length > 0 || step > window.to - window.from);
      for (const { at } of ticks) assert.equal(Math.abs(at % step), 0);
      const pixels = (step / (window.to - window.from)) * width;
      assert.ok(pixels >= 84, `${pixels} at ${length} on ${width}`);
    }
  }
});

test('steps are in order', () => {
  assert.deepEqual(STEPS, [...STEPS].sort((one, other) => one - other));
});

test('a tick that begins a day says which', () => {
  const ticks = ticksOf({ from: NOON, to: NOON + 24 * HOUR }, 1000, 'utc');

  assert.deepEqual(
    ticks.filter((tick) => tick.strong).map((tick) => tick.label), ['22 Nov'],
  );
});

test('what is under the hand stays there when one comes closer', () => {
  const window = { from: NOON, to: NOON + HOUR };
  for (const x of [0, 250, 999]) {
    const about = timeAt(window, 1000, x);
    const closer = zoomed(window, 0.37, about);

    assert.ok(Math.abs(pixelOf(closer, 1000, about) - x) < 1e-6);
  }
});

test('a window never becomes shorter than an axis can show', () => {
  let window = { from: NOON, to: NOON + HOUR };
  for (let turn = 0; turn < 100; turn += 1) window = zoomed(window, 0.5, NOON);

  assert.ok(window.to - window.from >= LENGTH_MIN);
});

test('moving away and back leads to the same window', () => {
  const window = { from: NOON, to: NOON + HOUR };

  assert.deepEqual(panned(panned(window, 0.25), -0.25), window);
});

test('a fit shows all and has room on both sides', () => {
  const window = fitted([NOON, NOON + HOUR]);

  assert.ok(window.from < NOON && window.to > NOON + HOUR);
  assert.equal(fitted([]), null);
  assert.ok(fitted([NOON]).to - fitted([NOON]).from >= 2000);
});

test('an age, a moment and a time of day can be typed', () => {
  const about = { now: NOON, near: NOON, zone: 'utc' };

  assert.equal(readAge('90s'), 90_000);
  assert.equal(readAsked('2h', about), NOON - 2 * HOUR);
  assert.equal(readAsked('2026-11-21T03:14:00Z', about),
    Date.UTC(2026, 10, 21, 3, 14));
  assert.equal(readAsked('2026-11-21 03:14', about),
    Date.UTC(2026, 10, 21, 3, 14));
  assert.equal(readAsked('03:14', about), Date.UTC(2026, 10, 21, 3, 14));
  assert.equal(readAsked('23:50', { ...about, near: NOON - 11 * HOUR }),
    Date.UTC(2026, 10, 20, 23, 50));
  assert.equal(readAsked('25:00', about), null);
  assert.equal(readAsked('soon', about), null);
});

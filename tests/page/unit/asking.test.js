import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Answers } from '../../../api/page/ask/answers.js';
import { AskError } from '../../../api/page/ask/post.js';
import { eventsIn } from '../../../api/page/ask/stream.js';
import { needsOf } from '../../../api/page/needs.js';
import { ofFleet } from '../../../api/page/needs/fleet.js';
import { asking, ofNode } from '../../../api/page/needs/node.js';
import { ofObject } from '../../../api/page/needs/object.js';
import { windowAround } from '../../../api/page/reading.js';
import { completeWords } from '../../../api/page/views/states.js';
import { readPlace } from '../../../api/page/route/place.js';
import { readInstant } from '../../../api/page/time/instant.js';

/** A network whose answers come when the test says so, and a clock of its own. */
function world() {
  const asked = [];
  const timers = new Map();
  let number = 0;
  return {
    asked,
    timers,
    changed() {},
    now: () => 1000,
    post: (query, variables, signal) => new Promise((give, fail) => {
      asked.push({ query, variables, signal, give, fail });
    }),
    later: (does, wait) => {
      number += 1;
      timers.set(number, { does, wait });
      return number;
    },
    forget: (timer) => timers.delete(timer),
    ring() {
      const [[timer, { does }]] = timers;
      timers.delete(timer);
      does();
    },
  };
}

const need = (slot, about) => ({ slot, query: 'q', variables: { about } });
const turn = () => new Promise((done) => setImmediate(done));

test('an answer stays while the next one is on its way', async () => {
  const net = world();
  const answers = new Answers(net);
  answers.want([need('a', 1)]);
  net.asked[0].give('first');
  await turn();
  answers.want([need('a', 2)]);
  const { data, key, dataKey, isAsking } = answers.of('a');

  assert.equal(data, 'first');
  assert.ok(isAsking);
  assert.notEqual(key, dataKey);
});

test('a late answer to an earlier question is dropped', async () => {
  const net = world();
  const answers = new Answers(net);
  answers.want([need('a', 1)]);
  answers.want([need('a', 2)]);
  net.asked[1].give('second');
  net.asked[0].give('first');
  await turn();

  assert.ok(net.asked[0].signal.aborted);
  assert.equal(answers.of('a').data, 'second');
});

test('what failed keeps its last answer and is asked again, later each time',
  async () => {
    const net = world();
    const answers = new Answers(net);
    answers.want([need('a', 1)]);
    net.asked[0].give('old');
    await turn();
    answers.refresh('a');
    const waits = [];
    for (let failed = 1; failed <= 8; failed += 1) {
      net.asked[failed].fail(new AskError('gone'));
      await turn();
      waits.push([...net.timers.values()][0].wait);
      assert.equal(answers.of('a').data, 'old');
      assert.equal(answers.of('a').error, 'gone');
      net.ring();
    }
    net.asked[9].give('new');
    await turn();

    assert.deepEqual(waits.slice(0, 3), [1000, 2000, 4000]);
    assert.equal(Math.max(...waits), 30_000);
    assert.equal(answers.of('a').error, '');
    assert.equal(answers.of('a').data, 'new');
  });

test('what asking again cannot change is asked once', async () => {
  const net = world();
  const answers = new Answers(net);
  answers.want([need('a', 1)]);
  net.asked[0].fail(new AskError('no such node', 'not_found'));
  await turn();
  answers.want([need('a', 1)]);

  assert.equal(net.asked.length, 1);
  assert.equal(net.timers.size, 0);
  assert.ok(answers.of('a').isFinal);
});

test('an answer not needed any more is neither requested nor awaited', async () => {
  const net = world();
  const answers = new Answers(net);
  answers.want([need('a', 1), need('b', 1)]);
  net.asked[1].fail(new AskError('gone'));
  await turn();
  answers.want([]);

  assert.ok(net.asked[0].signal.aborted);
  assert.equal(net.timers.size, 0);
});

test('answers that are not needed do not pile up', async () => {
  const net = world();
  const answers = new Answers(net);
  for (let number = 0; number < 200; number += 1) {
    answers.want([need(`slot ${number}`, 1)]);
    net.asked.at(-1).give(number);
    await turn();
  }

  assert.ok(answers.slots.size <= 41);
  assert.equal(answers.of('slot 199').data, 199);
});

test('events are cut out of a stream however it is cut', () => {
  const text = ': ping\n\nevent: next\ndata: {"a":\ndata: 1}\n\n'
    + 'event: complete\r\n\r\n';
  for (let cut = 0; cut <= text.length; cut += 1) {
    const first = eventsIn(text.slice(0, cut));
    const second = eventsIn(first.rest + text.slice(cut));
    const events = [...first.events, ...second.events];

    assert.deepEqual(events, [
      { name: 'next', data: '{"a":\n1}' }, { name: 'complete', data: '' },
    ], `cut at ${cut}`);
  }
});

const KNOWN = {
  log: '1',
  kind: 'LIVE',
  began: readInstant('2026-11-20T00:00:00Z'),
  until: readInstant('2026-11-21T12:00:00Z'),
};

test('a hand that moves a window a little asks nothing new', () => {
  const from = readInstant('2026-11-21T03:00:00Z');
  const asked = new Set();
  for (let by = 0; by < 3_600_000; by += 10_000) {
    const window = { from: from + by, to: from + by + 3_600_000 };
    const span = asking(window, KNOWN);
    asked.add(JSON.stringify(span));
    assert.ok(readInstant(span.since) <= window.from);
    assert.ok(readInstant(span.until) >= window.to);
  }

  assert.ok(asked.size <= 4, `${asked.size} questions`);
});

test('beyond what is vouched for the recorder says where it ends', () => {
  const window = { from: KNOWN.until - 3_600_000, to: KNOWN.until + 60_000 };

  assert.equal(asking(window, KNOWN).until, null);
  const almost = { from: KNOWN.until - 240_000, to: KNOWN.until - 179_000 };
  assert.equal(asking(almost, KNOWN).until, null, 'where proof is still to come');
});

test('of a time that was not recorded the answer has to say so', () => {
  const hour = 3_600_000;
  const { began, until } = KNOWN;
  const asked = (from, to) => {
    const span = asking({ from, to }, KNOWN);
    return [readInstant(span.since), span.until && readInstant(span.until)];
  };

  const [early] = asked(began - hour, began + hour);
  assert.ok(early <= began - hour, 'a window that begins before the record');
  const [since, end] = asked(began - 9 * hour, began - 8 * hour);
  assert.ok(since < end, 'a window before the record is a window');
  assert.ok(end < began);
  const [, behind] = asked(until + hour, until + 2 * hour);
  assert.ok(behind >= until + 2 * hour, 'a window behind it is not complete');
  const [first] = asked(began + 60_000, began + hour);
  assert.equal(first, began, 'what is more than is seen ends with the record');
});

test('a window that is chosen begins no earlier than the record', () => {
  const verdict = {
    beganAt: '2026-11-20T00:00:05Z', at: '2026-11-20T00:01:00Z',
    backInServiceAt: null,
  };
  const early = { ...verdict, beganAt: '2026-11-19T23:59:50Z' };

  assert.equal(windowAround(verdict, KNOWN.began).from, KNOWN.began);
  assert.equal(windowAround(early, KNOWN.began).from,
    readInstant(early.beganAt), 'unless what it shows does');
  assert.ok(windowAround(verdict).from < KNOWN.began);
});

test('that an answer is complete is said of a time', () => {
  assert.equal(completeWords([], ' until noon'),
    'Complete until noon: no gaps affect this answer.');
});

const PARTS = {
  fleet: ofFleet, node: ofNode, object: ofObject,
  evidence: () => [{ slot: 'entry', query: '', variables: {} }],
};
const partOf = (name) => PARTS[name] ?? null;

test('a view asks for its own and for what is open on it', () => {
  const slots = (address) => needsOf({
    place: readPlace(address), known: KNOWN, searched: '', cursorsOf: () => [], partOf,
  }).map(({ slot }) => slot);

  assert.deepEqual(slots('/'), ['overview', 'pulse', 'incidents', 'recent 1']);
  assert.deepEqual(slots('/node/x'), ['overview', 'pulse', 'latest']);
  assert.deepEqual(slots(
    '/node/x?from=2026-11-21T03:00:00Z&to=2026-11-21T04:00:00Z&entry=1/2'),
  ['overview', 'pulse', 'node x  ', 'map', 'entry']);
  assert.deepEqual(slots('/object/pod/a/b?left=1/1&right=1/2'),
    ['overview', 'pulse', 'object', 'document', 'who', 'difference']);
});

test('each older page is asked from where the newer one ends', () => {
  const needs = needsOf({
    place: readPlace('/'), known: KNOWN, searched: '',
    cursorsOf: (slot) => (slot === 'incidents' ? ['a', 'b'] : []), partOf,
  });

  assert.deepEqual(
    needs.map(({ slot, variables }) => [slot, variables.before ?? null]),
    [
      ['overview', null], ['pulse', null], ['incidents', null], ['recent 1', null],
      ['incidents 0', 'a'],
      ['incidents 1', 'b'],
    ]);
});

test('a log that is younger than the window is asked from its beginning', () => {
  const [, , { variables }] = needsOf({
    place: readPlace('/?last=30d'), known: KNOWN, searched: '', cursorsOf: () => [], partOf,
  });

  assert.equal(variables.since, '2026-11-20T00:00:00Z');
  assert.equal(variables.until, null);
});

test('a window of a tape is counted from where the tape ends', () => {
  const place = readPlace('/?last=1h');
  const of = (kind) => needsOf({
    place, known: { ...KNOWN, kind }, searched: '', cursorsOf: () => [], partOf,
  })[2].variables.since;

  assert.equal(of('LIVE'), '1h');
  assert.equal(of('TAPE'), '2026-11-21T11:00:00Z');
});

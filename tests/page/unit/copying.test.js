import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readPlace } from '../../../api/page/route/place.js';
import {
  commandOf, fieldsOf, linkOf,
} from '../../../api/page/words/copying.js';

const command = (address, verdict = null) =>
  commandOf(readPlace(address), { log: '2', verdict });

test('a view is a command with its window and its filter', () => {
  assert.equal(command('/?last=7d&filter=hung-kernel+proven+node:gpu-1+job:llm'),
    'recorder incidents --since 7d --cause hung-kernel --confidence proven'
    + ' --node gpu-1 --workload llm --log 2');
  assert.equal(
    command('/node/x?from=2026-11-21T03:00:00Z&to=2026-11-21T04:00:00Z'),
    'recorder why node/x --since 2026-11-21T03:00:00Z'
    + ' --until 2026-11-21T04:00:00Z --log 2');
  assert.equal(command('/node/x?entry=2/7'), 'recorder log 2/7 --raw');
});

test('what a shell would read in a name stays a name', () => {
  assert.equal(command("/object/pod/a/$(reboot)';ls"),
    "recorder history 'pod/a/$(reboot)'\\'';ls' --log 2");
});

test('a link is offered where all that it names is known, and encoded', () => {
  const fields = fieldsOf(readPlace('/object/pod/a b/c'), {
    log: '2', cluster: 'x', verdict: null, window: null,
  });

  assert.equal(linkOf('https://x.invalid/{namespace}?q={name}', fields),
    'https://x.invalid/a%20b?q=c');
  assert.equal(linkOf('https://x.invalid/{node}', fields), null);
  assert.equal(linkOf('javascript:alert({name})', fields), null);
});

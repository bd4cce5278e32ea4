/**
 * Starts GraphiQL with the API of this server.
 *
 * The token is that of the page, kept for this tab only; one in the address is
 * taken from it and removed. Headers that the user writes come last, and are
 * not stored.
 */

const KEY = 'recorder-token';

const EXAMPLE = `# Run: Ctrl-Enter. What every field means: the book at the left.
{
  incidents(clusters: ["*"], last: 10) {
    edges { cluster node { id from nodes happened cause confidence sentence } }
    coverage { complete }
  }
}
`;

const inAddress = /^#token=(.+)$/.exec(location.hash);
if (inAddress !== null) {
  sessionStorage.setItem(KEY, decodeURIComponent(inAddress[1]).trim());
  history.replaceState(null, '', location.pathname + location.search);
}

function isSubscription({ query, operationName }) {
  const name = operationName ? `\\s+${operationName}` : '';
  return new RegExp(`^\\s*subscription${name}\\b`, 'm').test(query);
}

async function* results(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (rest + value).split('\n\n');
      rest = events.pop();
      for (const event of events) {
        const data = event.split('\n').filter((line) => line.startsWith('data: '));
        const text = data.map((line) => line.slice(6)).join('\n');
        if (event.startsWith('event: next') && text) yield JSON.parse(text);
      }
    }
  } finally {
    await reader.cancel();
  }
}

async function fetcher(asked, { headers } = {}) {
  const token = sessionStorage.getItem(KEY);
  const streamed = isSubscription(asked);
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: {
      Accept: streamed ? 'text/event-stream' : 'application/json',
      'Content-Type': 'application/json',
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
      ...headers,
    },
    body: JSON.stringify(asked),
  });
  return streamed && response.ok ? results(response) : response.json();
}

ReactDOM.createRoot(document.getElementById('graphiql')).render(
  React.createElement(GraphiQL, {
    fetcher,
    defaultQuery: EXAMPLE,
    shouldPersistHeaders: false,
  }),
);

// Runs the audit against the address that is given; prints one line a check.
import { serverAudits } from 'graphql-http';

const url = process.argv[2];
for (const audit of serverAudits({ url, fetchFn: fetch })) {
  const result = await audit.fn();
  const status = result.status;
  console.log(JSON.stringify({
    id: audit.id, name: audit.name, status, reason: result.reason ?? null,
  }));
}

// Serves the views of a log with PostGraphile 4, and prints its address.
// The connection is JSON in the first argument, as node-postgres takes it.
import { createServer } from 'node:http';
import pg from 'pg';
import { postgraphile } from 'postgraphile';

const pool = new pg.Pool({ ...JSON.parse(process.argv[2]), max: 12 });
const server = createServer(
  postgraphile(pool, 'history', {
    disableDefaultMutations: true,
    disableQueryLog: true,
    dynamicJson: true,
    legacyRelations: 'omit',
  }),
);
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});

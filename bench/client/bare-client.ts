import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

/** The floor of a run's wall time: the same GETs, as many at once, and nothing made of their answers. */
const [origin = '', key = '', file = '', atOnce = '1'] = process.argv.slice(2);
const paths = readFileSync(file, 'utf8').split('\n');
const pool = new Pool(origin, { connections: Number(atOnce), pipelining: 1 });
let next = 0;
await Promise.all(
  Array.from({ length: Number(atOnce) }, async () => {
    for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
      const headers = { authorization: `Bearer ${key}` };
      const answer = await pool.request({ path, method: 'GET', headers });
      await answer.body.dump();
    }
  }),
);
await pool.close();

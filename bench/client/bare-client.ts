import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

/**
 * The floor of a run's wall time: the same requests, as many at once, and nothing made of their answers. Says how many were
 * refused. The file has a line for each: a path to GET, or JSON with method, path and body.
 */
interface Bare {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body: string | null;
}

const [origin = '', key = '', file = '', atOnce = '1'] = process.argv.slice(2);
const requests = readFileSync(file, 'utf8').split('\n').map(parsed);
const pool = new Pool(origin, { connections: Number(atOnce), pipelining: 1 });
let [next, refused] = [0, 0];
await Promise.all(
  Array.from({ length: Number(atOnce) }, async () => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const type = request.body === null ? {} : { 'content-type': 'application/json' };
      const headers = { authorization: `Bearer ${key}`, ...type };
      const answer = await pool.request({ ...request, headers });
      if (answer.statusCode >= 400) refused += 1;
      await answer.body.dump();
    }
  }),
);
await pool.close();
process.stdout.write(String(refused));

function parsed(line: string): Bare {
  if (!line.startsWith('{')) return { method: 'GET', path: line, body: null };
  return JSON.parse(line) as Bare;
}

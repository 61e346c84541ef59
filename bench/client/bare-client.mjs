import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { parseFiles } from './bare-yaml.mjs';

/**
 * The floor of a run: the same requests, as many at once, and nothing made of their answers. Says how many were refused.
 * The file has a line for each: a path to GET, or JSON with method, path and body. With a directory, it parses that
 * directory's YAML files first.
 *
 * Usage: `bare-client.mjs ORIGIN KEY FILE AT_ONCE [DIRECTORY]`.
 */
const [origin, key, file, atOnce, directory] = process.argv.slice(2);
if (directory !== undefined) parseFiles(directory);
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

function parsed(line) {
  if (!line.startsWith('{')) return { method: 'GET', path: line, body: null };
  return JSON.parse(line);
}

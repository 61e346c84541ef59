import { subscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';

/** Loaded before a program that is measured: leaves its requests in a file, as lines of JSON in the order in which they were made. */
const made = [];
subscribe('undici:request:create', ({ request: { method, path, body } }) => {
  made.push(
    JSON.stringify({
      method,
      path,
      body: body === null || body === undefined ? null : String(body),
    }),
  );
});
process.on('exit', () => {
  writeFileSync(process.env.BENCH_REQUESTS, made.join('\n'));
});

import { parentPort } from 'node:worker_threads';
import { parsedApart } from './parse-file.js';
import type { UnparsedText } from './pool.js';

/** Entry of a thread that parses: answers each batch of texts in the order in which they came. */
parentPort?.on('message', (texts: readonly UnparsedText[]) => {
  parentPort?.postMessage(texts.map(({ kind, text }) => parsedApart(kind, text)));
});

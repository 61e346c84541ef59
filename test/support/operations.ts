import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startOperations, type OperationsOptions } from '../../src/daemon/http/operations.js';
import { createLog } from '../../src/platform/log.js';
import type { DaemonControls, DaemonView } from '../../src/daemon/view.js';
import { NOW } from './daemon-view.js';

export interface TestOperations extends AsyncDisposable {
  readonly url: string;
  /** Lines of the log so far. */
  readonly logged: () => string;
  /** Path of a file with these lines, gone with the server. */
  readonly writeSecrets: (name: string, ...lines: readonly string[]) => Promise<string>;
}

interface TestOperationsOptions extends Partial<OperationsOptions> {
  readonly tokens?: readonly string[];
  readonly secrets?: readonly string[];
}

/**
 * The daemon's own server on a free port. Files of secrets that the options name by a function are written first.
 *
 * @param tokens, secrets lines of the two files; absent: that part is off.
 * @param now default: the minute of the daemons in memory.
 */
export async function startTestOperations(
  daemon: DaemonView & DaemonControls,
  { tokens, secrets, ...options }: TestOperationsOptions = {},
): Promise<TestOperations> {
  const directory = await mkdtemp(join(tmpdir(), 'operations-'));
  const writeSecrets = async (name: string, ...lines: readonly string[]): Promise<string> => {
    const file = join(directory, name);
    await writeFile(file, `${lines.join('\n')}\n`);
    return file;
  };
  let text = '';
  const stream = { write: (line: string) => (text += line) };
  const operations = await startOperations(daemon, {
    port: 0,
    now: () => NOW,
    log: createLog({ level: 'debug', format: 'json', stream }),
    ...(tokens && { tokenFile: await writeSecrets('tokens', ...tokens) }),
    ...(secrets && { webhookSecretFile: await writeSecrets('secrets', ...secrets) }),
    ...options,
  });
  return {
    url: operations.url,
    logged: () => text,
    writeSecrets,
    [Symbol.asyncDispose]: async () => {
      await operations.close();
      await rm(directory, { recursive: true });
    },
  };
}

import type { AdminReader } from '../api/reader.js';
import { Closers } from './closers.js';
import { DEFAULT_TIMEOUT_MS, type RunFlags, type Surroundings } from './open-run.js';
import { openService } from './service-access.js';

/** A way to a service of which there are no specs yet; it cannot write. */
export interface OpenedImport extends AsyncDisposable {
  readonly reader: AdminReader;
}

/** Opens the service that the operator names; an embedded one as it lies in the directory. */
export async function openImport(
  directory: string,
  flags: Pick<RunFlags, 'url' | 'embedded' | 'embeddedDir' | 'timeout' | 'concurrency'>,
  { settings, signal, note, progress }: Surroundings,
): Promise<OpenedImport> {
  const closers = new Closers();
  const { url, timeout: timeoutMs = DEFAULT_TIMEOUT_MS, concurrency } = flags;
  const embedded =
    flags.embedded === true
      ? { directory, storeDirectory: flags.embeddedDir, isDryRun: true }
      : undefined;
  const surroundings = { settings, signal, note, progress };
  const options = { ...surroundings, url, embedded, timeoutMs, concurrency };
  try {
    const { reader } = await openService(null, options, closers);
    return { reader, [Symbol.asyncDispose]: async () => closers[Symbol.asyncDispose]() };
  } catch (error) {
    await closers[Symbol.asyncDispose]();
    throw error;
  }
}

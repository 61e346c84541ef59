import { findEnvironment } from '../admin-api/workspace.js';
import { FlagkeelError } from '../errors.js';
import { Disposables } from '../platform/closers.js';
import type { OpenedPlace } from '../reconcile/cache.js';
import { openService, type AccessOptions } from './admin-api.js';

/**
 * Asks the service for the environments of the workspace: one request, whose answer shows that service, key and
 * workspace are there. Repeating is safe.
 *
 * @throws FlagkeelError `UNREACHABLE`, `UNREADABLE`, `UNAUTHORISED`, `NO_KEY`, `ORIGIN_NOT_ALLOWED`; `NOT_ON_SERVICE` if
 *   the workspace or one of the environments is gone.
 */
export async function confirmPlace(
  { desired, workspace }: OpenedPlace,
  options: AccessOptions,
): Promise<void> {
  const closers = new Disposables();
  const { timeoutMs } = options;
  // The service may ask for longer pauses, which no confirmation waits for.
  const deadline = AbortSignal.timeout(2 * timeoutMs);
  const signal = AbortSignal.any([options.signal, deadline]);
  try {
    const { reader } = await openService(desired, { ...options, signal }, closers);
    const environments = await reader.listEnvironments(workspace.id);
    for (const { name } of desired.config.environments) {
      findEnvironment({ workspace, environments }, name);
    }
  } catch (error) {
    if (!deadline.aborted || options.signal.aborted) throw error;
    const message = `cannot reach the service: no answer within ${String((2 * timeoutMs) / 1_000)} s`;
    throw new FlagkeelError('UNREACHABLE', message, { cause: error });
  } finally {
    await closers[Symbol.asyncDispose]();
  }
}

import { FlaghoistError } from '../errors.js';
import { isOlder } from '../git/checkout.js';
import type { RunContext } from './run.js';

/** A HEAD that an earlier run has gone beyond would undo what that run applied. */
export async function isOlderThan(
  { source, options }: RunContext,
  applied: string | null,
): Promise<boolean> {
  const head = source.revision.commit;
  if (options.allowOlder || head === null || applied === null) return false;
  return isOlder(source.checkout, head, applied);
}

/** @throws FlaghoistError `OLDER_HEAD` */
export async function refuseOlderHead(context: RunContext, applied: string | null): Promise<void> {
  const head = context.source.revision.commit;
  if (head === null || applied === null || !(await isOlderThan(context, applied))) return;
  throw new FlaghoistError(
    'OLDER_HEAD',
    `cannot go back to ${head.slice(0, 8)}: ${applied.slice(0, 8)}, which is newer, was applied (use --allow-older)`,
  );
}

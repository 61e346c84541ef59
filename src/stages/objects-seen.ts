import type { Progress } from '../model/progress.js';
import type { Scope } from '../model/scope.js';

/** Counts what `observe` has seen of a scope: definitions and activations, per environment. */
export function objectsSeen(
  { flags, segments }: Scope,
  progress: Progress | undefined,
): (count: number) => void {
  let done = 0;
  let total = 0;
  for (const { environments } of [...flags.values(), ...segments.values()]) {
    total += environments.size;
  }
  progress?.count(done, total);
  return (count) => {
    done += count;
    // Looking for users of what is to go brings flags that no scope names.
    total = Math.max(total, done);
    progress?.count(done, total);
  };
}

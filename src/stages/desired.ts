import type { Desired } from '../model/desired.js';
import type { Diagnostic } from '../model/diagnostic.js';
import { readSpecs } from '../specs/read-specs.js';
import { killAmongInvalid, killsInReach, type KillContext, type Killing } from './killing.js';
import { InvalidSpecsError, type RunContext } from './run.js';

/** What a run goes by. */
export interface ReadDesired {
  readonly desired: Desired;
  /** `KIND/NAME` of what is left as it is; empty unless the run may hold what is invalid. */
  readonly held: ReadonlySet<string>;
  /** Of a run that goes on in spite of errors: all of them. */
  readonly invalid: readonly Diagnostic[];
}

/**
 * Reads the specs; where they are wrong, all or nothing, unless `holdInvalid` lets a run go on with what is right.
 *
 * @throws InvalidSpecsError after the kills among them were sent.
 */
export async function readDesired(
  { source, options, memory }: RunContext,
  killContext: KillContext,
  killing: Killing | null,
): Promise<ReadDesired> {
  const specs = await readSpecs(source.tree, memory.specs);
  if (specs.ok) return { desired: specs.desired, held: new Set(), invalid: [] };
  if (options.holdInvalid === true && specs.rest) {
    return { ...specs.rest, invalid: specs.diagnostics };
  }
  const kills = await killAmongInvalid(specs, killContext, killing);
  const due = killing ? [] : killsInReach(specs.kills, options);
  throw new InvalidSpecsError(specs.diagnostics, kills, due);
}

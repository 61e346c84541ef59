import { FlagkeelError } from '../errors.js';
import { killsAlone } from '../kill/first.js';
import type { Killing } from '../kill/send.js';
import type { KillResults } from '../model/outcome.js';
import { readSpecs } from '../specs/read-specs.js';
import { InvalidSpecsError, type RunContext } from './context.js';
import { openKillLane } from './load.js';

/**
 * Sends the kills that git orders and the service lacks, and nothing else: it takes no lock, and of the service it
 * reads the workspace, its environments and the definitions that are to be killed. Safe to repeat.
 *
 * @returns the kills that were not live, as they ended.
 * @throws InvalidSpecsError after it sent the kills of the valid parts: the invalid ones may order more.
 * @throws FlagkeelError as `RunContext.requireSigned` and `KillSender.sendAlone`; `USAGE`: `--environment` names none of the config.
 */
export async function sendKillsAlone(context: RunContext, killing: Killing): Promise<KillResults> {
  const { source, memory, options } = context;
  await context.requireSigned?.();
  const lane = openKillLane(context, killing);
  const specs = await readSpecs(source.tree, memory.specs);
  const desired = specs.ok ? specs.desired : specs.config && killsAlone(specs.config, specs.kills);
  const names = desired?.config.environments.map(({ name }) => name) ?? [];
  const unknown = options.environments.find((each) => !names.includes(each));
  if (desired && unknown !== undefined) {
    const known = names.map((each) => `"${each}"`).join(', ');
    const message = `cannot use --environment "${unknown}": flagkeel.yaml has ${known}`;
    throw new FlagkeelError('USAGE', message);
  }
  const results: KillResults = desired ? await lane.sendAlone(desired) : new Map();
  if (!specs.ok) throw new InvalidSpecsError(specs.diagnostics, results);
  return results;
}

import { killsAlone } from '../kill/first.js';
import type { Killing } from '../kill/send.js';
import { bindEnvironments } from '../model/bound-desired.js';
import type { KillResults } from '../model/outcome.js';
import { readSpecs } from '../specs/read-specs.js';
import { InvalidSpecsError, type RunContext } from './context.js';
import { openKillLane } from './load.js';
import { selectedKeys, unknownEnvironment } from './selection.js';

/**
 * Sends the kills that git orders and the service lacks, and nothing else: it takes no lock, and of the service it
 * reads the workspace, its environments and the definitions that are to be killed. Safe to repeat.
 *
 * @returns the kills that were not live, as they ended.
 * @throws InvalidSpecsError after it sent the kills of the valid parts: the invalid ones may order more.
 * @throws FlagkeelError as `RunContext.requireSigned` and `KillSender.sendAlone`; `USAGE`: `--environment` names none of the config;
 * or, after the kills were sent, another filter names nothing in the specs.
 */
export async function sendKillsAlone(context: RunContext, killing: Killing): Promise<KillResults> {
  const { source, memory, options } = context;
  await context.requireSigned?.();
  const lane = openKillLane(context, killing);
  const specs = await readSpecs(source.tree, memory.specs);
  const desired = specs.ok ? specs.desired : specs.config && killsAlone(specs.config, specs.kills);
  const names = desired?.config.environments.map(({ name }) => name) ?? [];
  const unknown = options.environments.find((each) => !names.includes(each));
  if (desired && unknown !== undefined) throw unknownEnvironment(unknown, names);
  const results: KillResults = desired ? await lane.sendAlone(desired) : new Map();
  if (!specs.ok) throw new InvalidSpecsError(specs.diagnostics, results);
  // After the kills, because a misspelt filter must not keep them back.
  selectedKeys(options, bindEnvironments(specs.desired, new Map()), null);
  return results;
}

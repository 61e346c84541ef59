import { findEnvironment, findPlace } from '../api/connect.js';
import type { AdminReader } from '../api/reader.js';
import { KILL } from '../api/wire.js';
import type { AdminWriter } from '../api/writer.js';
import { FlaghoistError } from '../errors.js';
import { fitWords } from '../git/words.js';
import type { Config, Desired } from '../model/desired.js';
import type { Location } from '../model/diagnostic.js';
import { loadFiles } from '../specs/load-files.js';
import { readSpecs } from '../specs/read-specs.js';
import { orderedKills } from '../specs/resolve-kills.js';
import { killsAlone } from './killing.js';
import type { Source } from './source.js';

export interface ActRequest {
  readonly flag: string;
  /** As flaghoist.yaml names it. */
  readonly environment: string;
  readonly isKill: boolean;
  readonly reason?: string | undefined;
}

export interface LiveAct {
  /** The config directory. */
  readonly directory: string;
  readonly configName: string;
  readonly title: string;
  /** Never empty. */
  readonly reason: string;
  /** The service had it so before; nothing was sent. */
  readonly wasDone: boolean;
  /** Where flags say `killed: true` of this definition. */
  readonly orderedAt: readonly Location[];
}

/**
 * Kills or restores one definition on the service, at once and of any flag: the specs only have to say where the
 * service is. The state is left alone, so that no other run keeps it waiting.
 *
 * @throws FlaghoistError `SPECS_INVALID` flaghoist.yaml cannot be read; `USAGE` it has no such environment;
 *   `NOT_ON_SERVICE` the flag has no definition there.
 */
export async function actLive(
  context: {
    readonly source: Source;
    readonly openReader: (desired: Desired) => Promise<AdminReader>;
  },
  openWriter: () => AdminWriter,
  { flag, environment: configName, isKill, reason: given }: ActRequest,
): Promise<LiveAct> {
  const { source } = context;
  const verb = isKill ? 'kill' : 'restore';
  const desired = await specsOf(source, verb);
  requireEnvironment(desired.config, configName, verb);
  const reader = await context.openReader(desired);
  const place = await findPlace(reader, desired.config.workspace);
  const { id: environmentId, name } = findEnvironment(place, configName);
  const workspaceId = place.workspace.id;
  const live = await reader.getDefinition(workspaceId, environmentId, { name: flag });
  if (!live) {
    throw new FlaghoistError(
      'NOT_ON_SERVICE',
      `cannot ${verb} flag "${flag}": it has no definition in environment "${name}"`,
    );
  }
  const title = `${isKill ? 'Kill' : 'Restore'} ${flag} in ${name}`;
  const reason = given === undefined || given.trim() === '' ? title : given;
  const wasDone = live.killed === isKill;
  if (!wasDone) {
    const operations = isKill ? KILL : KILL.map((each) => ({ ...each, value: false }));
    const words = fitWords({ title, comment: reason }, title);
    await openWriter().patchDefinition({ workspaceId, environmentId, flag }, operations, words);
  }
  const said = orderedKills(await loadFiles(source.tree), [configName]);
  const orderedAt = said.filter((each) => each.flag === flag).map(({ location }) => location);
  return { directory: source.checkout.directory, configName, title, reason, wasDone, orderedAt };
}

async function specsOf(source: Source, verb: string): Promise<Desired> {
  const specs = await readSpecs(source.tree);
  if (specs.ok) return specs.desired;
  if (specs.config) return killsAlone(specs.config, specs.kills);
  throw new FlaghoistError(
    'SPECS_INVALID',
    `cannot ${verb} a flag: flaghoist.yaml does not say where (flaghoist validate)`,
  );
}

function requireEnvironment({ environments }: Config, name: string, verb: string): void {
  if (environments.some((each) => each.name === name)) return;
  const known = environments.map((each) => `"${each.name}"`).join(', ');
  throw new FlaghoistError(
    'USAGE',
    `cannot ${verb} in environment "${name}": flaghoist.yaml has ${known}`,
  );
}

import { findEnvironment, type Connection, type Place } from '../api/connect.js';
import { FlaghoistError } from '../errors.js';
import type { Config, Desired } from '../model/desired.js';
import type { Location } from '../model/diagnostic.js';
import type { PlannedEnvironment, PlanPolicy } from '../plan/policy.js';

/** What the command line says about one run. */
export interface RunOptions {
  /** Names or ids; empty: all. */
  readonly environments: readonly string[];
  /** `KIND/NAME`; empty: all. */
  readonly only: readonly string[];
  readonly prune: boolean;
  readonly adopt: boolean;
  readonly revertDrift: boolean;
  /** Write all identities, whatever is remembered of them. */
  readonly identities?: boolean;
  readonly allowOlder: boolean;
  /** Keys are listed also where their number is the remembered one. */
  readonly everyKey?: boolean;
  /** Only what was touched is looked at, where enough is known of the rest; see `reachOf`. */
  readonly touched?: boolean;
  /** Leave invalid objects, and what names them, as they are on the service, and go on with the rest. */
  readonly holdInvalid?: boolean;
  /** Only objects whose specs differ from this revision's are planned; the others are held back. */
  readonly since?: string | undefined;
  /** As `suspend: true` of the config. */
  readonly suspend?: boolean;
}

/**
 * @throws FlaghoistError `NOT_ON_SERVICE`: the config names an environment that the workspace lacks; `USAGE`: a filter
 *   names something that the config does not.
 */
export function resolvePolicy(
  config: Config,
  at: Place,
  options: RunOptions,
  stateless: boolean,
): PlanPolicy {
  const environments = resolveEnvironments(config, at, options.environments);
  return {
    environments,
    only: options.only.length === 0 ? null : new Set(options.only),
    held: new Set(),
    prune: (config.prune || options.prune) && !stateless,
    adopt: options.adopt,
    revertDrift: options.revertDrift,
    identities: options.identities === true ? 'all' : stateless ? 'none' : 'changed',
    stateless,
    suspended: config.suspend || options.suspend === true,
    witnessed: new Set(),
    restorable: new Map(),
  };
}

function resolveEnvironments(
  config: Config,
  at: Place,
  filter: readonly string[],
): PlannedEnvironment[] {
  // What the top of the config says holds for ordinary environments; a protected one is loosened in its own block only.
  const resolved = config.environments.map((environment): PlannedEnvironment => {
    const live = findEnvironment(at, environment.name);
    const isProtected = environment.protected ?? live.production;
    return {
      configName: environment.name,
      name: live.name,
      id: live.id,
      protected: isProtected,
      onDrift: environment.onDrift ?? (isProtected ? 'report' : (config.onDrift ?? 'revert')),
      onConflict: environment.onConflict ?? (isProtected ? 'hold' : (config.onConflict ?? 'apply')),
      onLiveKill: environment.onLiveKill ?? config.onLiveKill ?? 'keep',
      selected: isSelected(filter, [environment.name, live.name, live.id]),
    };
  });
  for (const name of filter) {
    if (resolved.some((each) => [each.configName, each.name, each.id].includes(name))) continue;
    const known = resolved.map((each) => `"${each.configName}"`).join(', ');
    throw new FlaghoistError(
      'USAGE',
      `cannot use --environment "${name}": flaghoist.yaml has ${known}`,
    );
  }
  return resolved;
}

/** Whether a filter lets something through that goes by any of these names; an empty filter lets all through. */
export function isSelected(filter: readonly string[], names: readonly string[]): boolean {
  return filter.length === 0 || filter.some((each) => names.includes(each));
}

/**
 * Checks what only the service knows: rollout statuses and traffic types that the specs name.
 *
 * @throws FlaghoistError `NOT_ON_SERVICE`, with the place in the specs.
 */
export function checkNamesOnService(
  desired: Pick<Desired, 'flags' | 'segments' | 'identities'>,
  at: Connection,
): void {
  const flags = [...desired.flags.values()];
  const segments = [...desired.segments.values()];
  const statuses = at.rolloutStatuses.map(({ name }) => name);
  for (const flag of flags) {
    const { rolloutStatus } = flag.fields;
    if (rolloutStatus !== undefined)
      known('rollout status', rolloutStatus, statuses, flag.location, at);
  }
  if (!at.trafficTypes) return;
  for (const { trafficType, location } of [...flags, ...segments, ...desired.identities]) {
    known('traffic type', trafficType, at.trafficTypes, location, at);
  }
}

function known(
  what: string,
  name: string,
  names: readonly string[],
  { file, line }: Location,
  { workspace }: Connection,
): void {
  if (names.includes(name)) return;
  const choice = names.map((each) => `"${each}"`).join(', ');
  throw new FlaghoistError(
    'NOT_ON_SERVICE',
    `cannot use ${what} "${name}" (${file}:${line}): workspace "${workspace.name}" has ${choice}`,
  );
}

import type { AdminReader } from '../admin-api/reader.js';
import { readCatalog, type Catalog } from '../admin-api/workspace.js';
import { originOf } from '../admin-api/origin.js';
import { directoryInRepository, findStates, openStateHome, stateSharing } from '../state/open.js';
import { embeddedStateName, embeddedStorePath, storeIdAt } from '../compose/embedded.js';
import { operatorSettings, type OperatorSettings } from '../compose/settings.js';
import { EXIT, FlagkeelError, type ExitCode } from '../errors.js';
import type { StateKey } from '../state/known-state.js';
import type { StateHome } from '../state/store.js';
import type { Desired } from '../model/desired.js';
import type { StateSharing } from '../model/run.js';
import { InvalidSpecsError, type RunContext } from '../reconcile/context.js';
import { readConfig } from '../specs/read-config.js';
import { readSpecs } from '../specs/read-specs.js';
import { openSource, type Source } from '../git/spec-source.js';
import { openDryRun } from './on-service.js';
import type { CommonOptions, ServiceOptions } from './options.js';
import type { Screen } from './terminal.js';

/** Options of a command that reads the state: which of the states of a directory, and how it is printed. */
export type StateOptions = CommonOptions & ServiceOptions;

/** The state of one directory, to be looked at or changed by hand. */
export interface OpenedState {
  readonly home: StateHome;
  /** Environment id → name, as far as it is known. */
  readonly environments: Readonly<Record<string, string>>;
}

/**
 * Opens the state of a directory: its only one, without asking the service; where it has several the command line
 * chooses, and where none says whose it is the service is asked which workspace it is.
 *
 * @param use prints the result; null: nothing is remembered. Afterwards all is closed.
 * @throws FlagkeelError `USAGE`: the directory has states of several services and the command line names none. What
 *   `use` throws comes through.
 */
export async function withState(
  directory: string,
  options: StateOptions,
  screen: Screen,
  use: (state: OpenedState | null) => Promise<void>,
): Promise<ExitCode> {
  using progress = screen.progress;
  progress.phase('read');
  const settings = operatorSettings(screen.terminal.environment);
  await using source = await openSource(directory, { workingTree: true });
  const sharing = await sharingOf(source);
  const { found, others } = await statesOf(source, directory, { options, settings, sharing });
  const [only, ...more] = found;
  if (more.length > 0) throw ambiguous(directory, found);
  if (only) {
    const { stateDir, git } = settings;
    const home = await openStateHome(
      { ...only, checkout: source.checkout, stateDir, git },
      sharing,
    );
    await use(home && { home, environments: only.environments ?? {} });
    const missing = home?.notShared() ?? null;
    if (missing !== null)
      screen.note(`warning: the state of origin was not reached: ${missing.why}`);
    return EXIT.ok;
  }
  if (others === 0 && sharing !== 'always') {
    await use(null);
    return EXIT.ok;
  }
  await using run = await openDryRun(directory, options, screen);
  const { at } = await askCatalog(run.context);
  const home = await run.context.openState(at);
  const environments = Object.fromEntries(at.environments.map(({ id, name }) => [id, name]));
  await use(home && { home, environments });
  return EXIT.ok;
}

/** The specs, and the place on the service that they name. @throws InvalidSpecsError */
export async function askCatalog(
  context: RunContext,
): Promise<{ readonly desired: Desired; readonly reader: AdminReader; readonly at: Catalog }> {
  const specs = await readSpecs(context.source.tree);
  if (!specs.ok) throw new InvalidSpecsError(specs.diagnostics, new Map());
  const { desired } = specs;
  const reader = await context.openReader(desired);
  return { desired, reader, at: await readCatalog(reader, desired.config.workspace) };
}

/** An invalid config shares nothing: the state of this machine is all that is known then. The specs are not read for it. */
async function sharingOf({ tree }: Source): Promise<StateSharing> {
  const config = await readConfig(tree);
  return config ? stateSharing(config.pushState) : 'never';
}

/** States of the directory, and how many others were found beside those that the command line means. */
async function statesOf(
  { checkout }: Source,
  directory: string,
  {
    options,
    settings,
    sharing,
  }: {
    readonly options: StateOptions;
    readonly settings: OperatorSettings;
    readonly sharing: StateSharing;
  },
): Promise<{ found: readonly StateKey[]; others: number }> {
  const { stateDir, git } = settings;
  const own = directoryInRepository(checkout, directory);
  const { found, others } = await findStates({ checkout, stateDir, git }, own, sharing);
  const url = options.url ?? settings.url;
  const embedded =
    options.embedded === true ? embeddedName(checkout.directory, options) : undefined;
  const origin = embedded ?? (url === undefined ? null : originOf(url));
  const meant = found.filter((key) => origin === null || key.origin === origin);
  return { found: meant, others: others + found.length - meant.length };
}

/** Of the store that is there now; where none is, of one that no state knows. */
function embeddedName(directory: string, { embeddedDir }: StateOptions): string {
  return embeddedStateName(storeIdAt(embeddedStorePath(directory, embeddedDir)) ?? 'none');
}

function ambiguous(directory: string, found: readonly StateKey[]): FlagkeelError {
  const services = found.map((key) => `"${key.origin}"`).join(', ');
  return new FlagkeelError(
    'USAGE',
    `cannot choose a state of "${directory}": it has those of ${services} (name the service with --url or --embedded)`,
  );
}

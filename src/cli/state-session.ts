import type { AdminReader } from '../admin-api/reader.js';
import { readCatalog, type Catalog } from '../admin-api/workspace.js';
import { originOf } from '../admin-api/origin.js';
import { directoryInRepository, findStates, openStateHome, stateSharing } from '../state/open.js';
import type { RunFlags } from '../compose/run.js';
import { embeddedStateName, embeddedStorePath, storeIdAt } from '../compose/admin-api.js';
import { operatorSettings, type OperatorSettings } from '../compose/settings.js';
import { FlagkeelError } from '../errors.js';
import type { StateKey } from '../state/known-state.js';
import type { StateHome } from '../state/store.js';
import type { Desired } from '../model/desired.js';
import { InvalidSpecsError, type RunContext } from '../reconcile/context.js';
import { readConfig } from '../specs/read-config.js';
import { readSpecs } from '../specs/read-specs.js';
import type { Checkout } from '../git/checkout.js';
import { openSource } from '../git/spec-source.js';
import { openDryRun } from './right-specs.js';
import type { CommonOptions, ServiceOptions } from './options.js';
import type { Screen } from './terminal.js';

export type StateOptions = CommonOptions & ServiceOptions & Required<Pick<RunFlags, 'lockTimeout'>>;

/**
 * Opens the state of a directory. Of several the command line chooses; if none says whose it is, the service is asked
 * which workspace it is. `use` prints the result, also if nothing is remembered. @throws FlagkeelError `USAGE`: the
 * directory has states of several services and the command line names none.
 */
export async function withState(
  directory: string,
  options: StateOptions,
  screen: Screen,
  use: (home: StateHome | null) => Promise<void>,
): Promise<void> {
  using progress = screen.progress;
  progress.phase('read');
  const settings = operatorSettings(screen.terminal.environment);
  await using source = await openSource(directory, { workingTree: true });
  const { checkout } = source;
  // An invalid config shares nothing: then the state of this machine is all that is known.
  const config = await readConfig(source.tree);
  const sharing = config ? stateSharing(config.pushState) : 'never';
  const { stateDir, git } = settings;
  const { signal } = screen.terminal;
  const place = { checkout, stateDir, git, signal, isLook: true };
  const own = directoryInRepository(checkout, directory);
  const all = await findStates(place, own, sharing);
  const origin = askedOrigin(checkout, options, settings);
  const found = all.found.filter((key) => origin === null || key.origin === origin);
  const [only, ...more] = found;
  if (more.length > 0) throw ambiguous(directory, found);
  if (only) {
    const home = await openStateHome({ ...only, ...place }, sharing);
    await use(home);
    const missing = home?.notShared() ?? null;
    if (missing) screen.note(`warning: the state of origin was not reached: ${missing.why}`);
    return;
  }
  if (all.others + all.found.length === 0 && sharing !== 'always') {
    await use(null);
    return;
  }
  await using run = await openDryRun(directory, options, screen);
  const { at } = await askCatalog(run.context);
  await use(await run.context.openState(at));
}

export async function askCatalog(
  context: RunContext,
): Promise<{ readonly desired: Desired; readonly reader: AdminReader; readonly at: Catalog }> {
  const specs = await readSpecs(context.source.tree);
  if (!specs.ok) throw new InvalidSpecsError(specs.diagnostics, new Map());
  const { desired } = specs;
  const reader = await context.openReader(desired);
  return { desired, reader, at: await readCatalog(reader, desired.config.workspace) };
}

function askedOrigin(
  { directory }: Checkout,
  options: StateOptions,
  settings: OperatorSettings,
): string | null {
  if (options.embedded === true) {
    // A store that is not there yet has no state.
    const store = storeIdAt(embeddedStorePath(directory, options.embeddedDir));
    return embeddedStateName(store ?? 'none');
  }
  const url = options.url ?? settings.url;
  return url === undefined ? null : originOf(url);
}

function ambiguous(directory: string, found: readonly StateKey[]): FlagkeelError {
  const services = found.map((key) => `"${key.origin}"`).join(', ');
  const why = `it has those of ${services} (name the service with --url or --embedded)`;
  return new FlagkeelError('USAGE', `cannot choose a state of "${directory}": ${why}`);
}

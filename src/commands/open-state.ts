import { connect } from '../api/connect.js';
import { originOf } from '../api/origin.js';
import { openRun } from '../compose/open-run.js';
import { directoryInRepository } from '../compose/state-access.js';
import { embeddedStateName, embeddedStorePath, storeIdAt } from '../compose/store-id.js';
import { operatorSettings, type OperatorSettings } from '../config.js';
import { EXIT, FlaghoistError, type ExitCode } from '../errors.js';
import { findStates, type FoundState, type StateHome } from '../git/state-home.js';
import { shareState } from '../git/state-shared.js';
import { InvalidSpecsError } from '../stages/run.js';
import { readSpecs } from '../specs/read-specs.js';
import { openSource, type Source } from '../stages/source.js';
import type { StateFlags, Terminal } from './options.js';
import { openScreen, type Screen } from './screen.js';

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
 * @param use what is done with it, and the result to print; null: nothing is remembered. Afterwards all is closed.
 */
export async function withState(
  directory: string,
  flags: StateFlags,
  terminal: Terminal,
  use: (state: OpenedState | null) => Promise<string>,
): Promise<ExitCode> {
  const screen = openScreen(flags, terminal);
  await opening(directory, { flags, terminal, screen }, async (opened) => {
    await screen.result(await use(opened));
  });
  return EXIT.ok;
}

interface Opening {
  readonly flags: StateFlags;
  readonly terminal: Terminal;
  readonly screen: Screen;
}

async function opening(
  directory: string,
  { flags, terminal, screen }: Opening,
  use: (state: OpenedState | null) => Promise<void>,
): Promise<void> {
  const settings = operatorSettings(terminal.environment);
  await using source = await openSource(directory, { workingTree: true });
  const { found, others } = await statesOf(source, directory, flags, settings);
  const [only, ...more] = found;
  if (more.length > 0) throw ambiguous(directory, found);
  if (only) {
    await use(await asConfigured(only, source, settings));
    return;
  }
  // A fresh clone has not fetched a shared state yet.
  if (others === 0 && !(await isShared(source))) {
    await use(null);
    return;
  }
  const note = (text: string): void => {
    screen.note(text);
  };
  await using run = await openRun(
    directory,
    { ...flags, dryRun: true },
    { settings, signal: terminal.signal, note },
  );
  const specs = await readSpecs(run.context.source.tree);
  if (!specs.ok) throw new InvalidSpecsError(specs.diagnostics, new Map());
  const reader = await run.context.openReader(specs.desired);
  const at = await connect(reader, specs.desired.config.workspace);
  const home = await run.context.openState(at);
  const environments = Object.fromEntries(at.environments.map(({ id, name }) => [id, name]));
  await use(home && { home, environments });
}

/** The state, by way of origin where the specs say that it is shared; invalid specs say nothing. */
async function asConfigured(
  { home, place }: FoundState,
  source: Source,
  { stateDir }: OperatorSettings,
): Promise<OpenedState> {
  const environments = place.environments ?? {};
  if (!(await isShared(source))) return { home, environments };
  return {
    home: await shareState(home, { ...place, checkout: source.checkout, stateDir }),
    environments,
  };
}

async function isShared({ tree }: Source): Promise<boolean> {
  const specs = await readSpecs(tree);
  return specs.ok && specs.desired.config.pushState === true;
}

async function statesOf(
  { checkout }: Source,
  directory: string,
  flags: StateFlags,
  settings: OperatorSettings,
): Promise<{ found: readonly FoundState[]; others: number }> {
  const { found, others } = await findStates({
    checkout,
    stateDir: settings.stateDir,
    directory: directoryInRepository(checkout, directory),
  });
  const url = flags.url ?? settings.url;
  const embedded = flags.embedded === true ? embeddedName(checkout.directory, flags) : undefined;
  const origin = embedded ?? (url === undefined ? null : originOf(url));
  const meant = found.filter(({ place }) => origin === null || place.origin === origin);
  return { found: meant, others: others + found.length - meant.length };
}

/** Of the store that is there now; where none is, of one that no state knows. */
function embeddedName(directory: string, { embeddedDir }: StateFlags): string {
  return embeddedStateName(storeIdAt(embeddedStorePath(directory, embeddedDir)) ?? 'none');
}

function ambiguous(directory: string, found: readonly FoundState[]): FlaghoistError {
  const services = found.map(({ place }) => `"${place.origin}"`).join(', ');
  return new FlaghoistError(
    'USAGE',
    `cannot choose a state of "${directory}": it has those of ${services} (name the service with --url or --embedded)`,
  );
}

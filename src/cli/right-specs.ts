import { FlagkeelError } from '../errors.js';
import { openSource } from '../git/spec-source.js';
import type { Checkout } from '../git/checkout.js';
import type { Desired } from '../model/desired.js';
import { diagnosticsText } from '../report/text/diagnostics.js';
import { readWithParts, type SpecParts } from '../specs/read-specs.js';
import { configDirectoryOf, type ConfigDirectory } from './directories.js';
import type { Screen } from './terminal.js';
import type { Command } from 'commander';
import type { AdminReader } from '../admin-api/reader.js';
import type { ConnectionFlags, Run, RunFlags } from '../compose/run.js';
import { placeOptions, timeoutOption } from './options.js';

export interface RightSpecs {
  readonly desired: Desired;
  readonly parts: SpecParts;
  /** Of the directory, from the top of its repository. */
  readonly prefix: string;
  /** What the files on disk are; null: they differ from HEAD, or there is no commit. */
  readonly commit: string | null;
  readonly named: ConfigDirectory;
  /** Closed: its commits can be asked for, its objects cannot. */
  readonly checkout: Pick<Checkout, 'repository' | 'head' | 'directory' | 'shallow'>;
}

/** For answers that are made of ages of files, removals or earlier specs. */
export function warnIfShallow({ shallow }: Pick<Checkout, 'shallow'>, screen: Screen): void {
  const cost = 'what its missing commits did is not seen, and files may be older than they seem';
  if (shallow) screen.note(`warning: the clone is shallow: ${cost} (fetch the whole history)`);
}

/** Every problem is printed on standard error. @throws FlagkeelError `SPECS_INVALID` */
export async function readRightSpecs(path: string, screen: Screen): Promise<RightSpecs> {
  const named = await configDirectoryOf(path);
  await using source = await openSource(named.directory, { workingTree: true });
  const { result, parts } = await readWithParts(source.tree);
  if (!result.ok) {
    screen.noteLines(diagnosticsText(result.diagnostics, { color: false }).trimEnd());
    const what = `cannot use the specs of "${named.directory}"`;
    throw new FlagkeelError('SPECS_INVALID', `${what}: they are invalid (see above)`);
  }
  const { checkout, revision } = source;
  return {
    desired: result.desired,
    parts,
    prefix: checkout.repository?.prefix ?? '',
    commit: revision.dirty ? null : revision.commit,
    named,
    checkout,
  };
}

export interface OnlineOptions extends ConnectionFlags {
  readonly online?: boolean;
}

/** @param what it is asked for, behind "ask the service". */
export function onlineOptions(command: Command, what: string): Command {
  command.option('--online', `ask the service ${what} (needs a key)`);
  return timeoutOption(placeOptions(command));
}

/** Nothing can be written to the service here. @throws FlagkeelError as a run that reads: `NO_KEY`, … */
export async function askService<T>(
  { directory, desired }: { readonly directory: string; readonly desired: Desired },
  options: OnlineOptions,
  screen: Screen,
  ask: (reader: AdminReader) => Promise<T>,
): Promise<T> {
  // What speaks to a service takes as long to load as all else, and most of these runs ask none.
  const { openReading } = await import('../compose/run.js');
  await using opened = await openReading(directory, options, screen.surroundings(), desired);
  return await ask(opened.reader);
}

export async function openDryRun(
  directory: string,
  options: RunFlags,
  screen: Screen,
): Promise<Run> {
  const { openRun } = await import('../compose/run.js');
  return openRun(directory, { ...options, dryRun: true }, screen.surroundings());
}

/** A service that is named and not asked would be a surprise. */
export function refuseWithoutOnline({ online, url, embedded }: OnlineOptions): void {
  if (online === true || (url === undefined && embedded !== true)) return;
  throw new FlagkeelError('USAGE', 'cannot use --url or --embedded without --online');
}

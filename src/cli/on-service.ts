import type { Command } from 'commander';
import type { AdminReader } from '../admin-api/reader.js';
import type { ConnectionFlags, Run, RunFlags } from '../compose/run.js';
import { FlagkeelError } from '../errors.js';
import type { Desired } from '../model/desired.js';
import { placeOptions, timeoutOption } from './options.js';
import type { Screen } from './terminal.js';

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

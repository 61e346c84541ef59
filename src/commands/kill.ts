import { messageOf, EXIT, FlaghoistError, type ExitCode } from '../errors.js';
import { operatorSettings } from '../config.js';
import { openRun } from '../compose/open-run.js';
import { FLAG_NAME } from '../kinds/names.js';
import { clean } from '../report/clean.js';
import { errorText } from '../report/run-error.js';
import { actLive, type LiveAct } from '../stages/kill-act.js';
import { commitCommands, prepareList } from './kill-list.js';
import type { KillFlags, Terminal } from './options.js';
import { openScreen } from './screen.js';

export interface KillRequest {
  readonly flag: string;
  readonly directory: string;
  readonly isKill: boolean;
}

/** Kills or restores a flag on the service at once, and prepares the commit that makes git agree. */
export async function runKill(
  request: KillRequest,
  flags: KillFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const screen = openScreen(flags, terminal);
  try {
    if (!FLAG_NAME.test(request.flag)) {
      throw new FlaghoistError('USAGE', `cannot act on "${request.flag}": that is no flag name`);
    }
    await using run = await openRun(
      request.directory,
      { ...flags, environment: [], only: [], allowDirty: true, lockTimeout: 0 },
      {
        settings: operatorSettings(terminal.environment),
        signal: terminal.signal,
        note: (text) => {
          screen.note(text);
        },
      },
    );
    const act = await actLive(run.context, run.openWriter, {
      ...request,
      environment: flags.environment,
      reason: flags.reason,
    });
    await screen.result(await resultText(request, act, flags));
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof FlaghoistError)) throw error;
    terminal.stderr.write(errorText(error));
    return error.exitCode;
  }
}

async function resultText(
  { flag, isKill }: KillRequest,
  act: LiveAct,
  { format }: KillFlags,
): Promise<string> {
  const { configName, directory, reason, wasDone, orderedAt } = act;
  const since = `${new Date().toISOString().slice(0, 19)}Z`;
  const list = await prepareList({
    directory,
    environment: configName,
    flag,
    entry: isKill ? { reason, since } : null,
  }).catch((error: unknown) => ({ path: null, why: messageOf(error) }));
  const commands =
    list.path === null ? [] : commitCommands(directory, list.path, act.title, reason);
  const places = isKill ? [] : orderedAt.map(({ file, line }) => `${file}:${line}`);
  if (format === 'json') {
    const document = { flag, environment: configName, killed: isKill, changed: !wasDone };
    return `${JSON.stringify({ ...document, file: list.path, orderedAt: places, commands }, null, 2)}\n`;
  }
  const state = isKill ? 'killed' : 'restored';
  const lines = [
    `${clean(flag)} ${wasDone ? `was ${state} already` : `is ${state}`} in ${clean(configName)}.`,
    ...places.map(
      (place) => `${clean(place)} says \`killed: true\`: change it to \`killed: false\`.`,
    ),
    ...('why' in list ? [`The list was not changed: ${clean(list.why)}.`] : []),
    ...(commands.length > 0
      ? [
          `${clean(list.path ?? '')} is ready; make git agree:`,
          ...commands.map((each) => `  ${each}`),
        ]
      : []),
    ...(isKill ? [] : ['Until git agrees, a run that finds the kill ordered sends it again.']),
  ];
  return `${lines.join('\n')}\n`;
}

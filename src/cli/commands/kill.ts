import { join } from 'node:path';
import { messageOf, EXIT, FlagkeelError, type ExitCode } from '../../errors.js';
import { openRun, type ConnectionFlags } from '../../compose/run.js';
import type { ChangeNote } from '../../model/outcome.js';
import { FLAG_NAME } from '../../model/ref.js';
import { shellWord } from '../../platform/shell.js';
import { clean } from '../../report/sanitize.js';
import { actLive, type LiveAct, commitCommands, prepareList } from '../../kill/now.js';
import type { RunContext } from '../../reconcile/context.js';
import { recordAct } from '../../reconcile/record.js';
import { tracedCommand } from '../traced-command.js';
import type { DeclareCommand } from '../command.js';
import { commonOptions, placeOptions, timeoutOption, type CommonOptions } from '../options.js';
import { ending, prettyJson, type Screen } from '../terminal.js';

interface KillOptions extends CommonOptions, ConnectionFlags {
  readonly environment: string;
  readonly reason?: string;
}

/** Declares `kill` and `restore`: the name of the command says which of the two it is. */
export const declareKill: DeclareCommand = (command, invocation) => {
  const isKill = command.name() === 'kill';
  command
    .argument('<flag>', 'name of the flag, of this repository or not')
    .argument('[directory]', 'config repository', '.')
    .requiredOption('--environment <name>', 'where, as flagkeel.yaml names it')
    .option('--reason <text>', 'why; goes into the service’s log and into the commit');
  const run = async (
    flag: string,
    directory: string,
    options: KillOptions,
    screen: Screen,
  ): Promise<ExitCode> =>
    tracedCommand({ name: command.name(), directory }, screen.terminal, async () =>
      killOrRestore({ flag, directory, isKill }, options, screen),
    );
  commonOptions(timeoutOption(placeOptions(command))).action(ending(run, invocation));
};

interface KillRequest {
  readonly flag: string;
  readonly directory: string;
  readonly isKill: boolean;
}

/** Takes no lock of the state, since an emergency does not wait for a run. May be repeated. */
async function killOrRestore(
  request: KillRequest,
  options: KillOptions,
  screen: Screen,
): Promise<ExitCode> {
  if (!FLAG_NAME.test(request.flag)) {
    throw new FlagkeelError('USAGE', `cannot act on "${request.flag}": that is no flag name`);
  }
  await using run = await openRun(
    request.directory,
    { ...options, environment: [], allowDirty: true },
    screen.surroundings(),
  );
  const { environment, reason } = options;
  const context = { ...run.context, openWriter: run.openWriter };
  const done = await actLive(context, { ...request, environment, reason });
  const isDirty = context.source.revision.dirty;
  await screen.result(await resultText(request, done, { ...options, isDirty }, screen));
  // Last: in an emergency the result of the service comes before further questions to it and to git.
  screen.progress.phase('look');
  if (done.sent) await recordDone(run.context, request, { ...done, sent: done.sent });
  return EXIT.ok;
}

/** A place that cannot be looked up is a note: the service was changed all the same. */
async function recordDone(
  context: RunContext,
  { flag, isKill }: KillRequest,
  act: LiveAct & { readonly sent: ChangeNote },
): Promise<void> {
  const { environmentName: environment, wasKilled, sent: note } = act;
  try {
    const place = await act.place();
    context.progress?.phase('read');
    await recordAct(context, place, { flag, environment, isKill, wasKilled, note });
  } catch (error) {
    if (!(error instanceof FlagkeelError)) throw error;
    context.note(`Not looked at afterwards, and not recorded in the history: ${error.message}`);
  }
}

const ELSEWHERE = 'Run this again in a checkout that you may change: it prepares the commit.';

/** A list of kills that cannot be written is no failure: the service was changed by then. */
async function resultText(
  { flag, isKill, directory: asked }: KillRequest,
  act: LiveAct,
  { format, environment, isDirty }: KillOptions & { readonly isDirty: boolean },
  { writeFile: write }: Pick<Screen, 'writeFile'>,
): Promise<string> {
  const { directory, reason, sent, wasKilled, orderedAt, orderedIn } = act;
  const wasDone = sent === null;
  const entry = isKill ? { reason, since: `${new Date().toISOString().slice(0, 19)}Z` } : null;
  const list = await prepareList({ directory, environment, flag, entry, write }).catch(
    (error: unknown) => ({ path: null, why: messageOf(error) }),
  );
  const commands = list.path === null ? [] : commitCommands(directory, list.path, act);
  const others = orderedIn.map((path) => join(asked, path));
  const places = isKill ? [] : orderedAt.map(({ file, line }) => `${file}:${line}`);
  if (format === 'json') {
    const changed = wasKilled === null ? null : !wasDone;
    const document = { flag, environment, killed: isKill, changed };
    return prettyJson({
      ...document,
      file: list.path,
      orderedAt: places,
      orderedIn: others,
      commands,
    });
  }
  // The list or the flag may have been changed before, and not committed.
  const isOrdered = commands.length + places.length + others.length > 0 || 'why' in list || isDirty;
  const state = isKill ? 'killed' : 'restored';
  const lines = [
    `${clean(flag)} ${wasDone ? `was ${state} already` : `is ${state}`} in ${clean(environment)}.`,
    ...(wasKilled === null
      ? ['It may have been killed before: the kill went out without a look.']
      : []),
    ...places.map(
      (place) => `${clean(place)} says \`killed: true\`: change it to \`killed: false\`.`,
    ),
    ...others.map(
      (path) =>
        `"${clean(path)}" orders the kill too: flagkeel restore ${shellWord(flag)} ${shellWord(path)} --environment ${shellWord(environment)}`,
    ),
    ...('why' in list ? [`The list was not changed: ${clean(list.why)}. ${ELSEWHERE}`] : []),
    ...(commands.length > 0
      ? [
          `${clean(list.path ?? '')} is ready; make git agree:`,
          ...commands.map((each) => `  ${each}`),
        ]
      : []),
    ...(isKill || !isOrdered
      ? []
      : ['Until git agrees, a run that finds the kill ordered sends it again.']),
  ];
  return `${lines.join('\n')}\n`;
}

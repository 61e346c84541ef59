import { Command, CommanderError, Option } from 'commander';
import { collect, collectObject, duration, positive } from './arguments.js';
import type { DriftFlags } from './commands/drift.js';
import type { ImportFlags } from './commands/import.js';
import type {
  KillFlags,
  ReconcileFlags,
  ReviewFlags,
  StateFlags,
  Terminal,
  ValidateFlags,
} from './commands/options.js';
import { addService } from './service-cli.js';
import { packageVersion } from './version.js';
import { addWatch } from './watch-cli.js';
import { EXIT, type ExitCode } from './errors.js';

/**
 * Parses the command line and runs one command.
 *
 * The commands themselves are imported when they are run: `--version` and `--help` load nothing else.
 *
 * @param args without the interpreter and the script.
 */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  const program = createProgram(terminal, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}

function createProgram(terminal: Terminal, done: (code: ExitCode) => void): Command {
  const program = new Command('flaghoist')
    .description('Feature flags in git: reviewed as pull requests, applied in a safe order.')
    .version(packageVersion(), '--version', 'print the version')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(flaghoist --help lists the commands)')
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    })
    // Copied into the subcommands when they are added, so it has to come first.
    .exitOverride();
  addValidate(program, terminal, done);
  addReconcile(program, terminal, done);
  addReview(program, terminal, done);
  addImport(program, terminal, done);
  addDrift(program, terminal, done);
  addState(program, terminal, done);
  addHistory(program, terminal, done);
  addKill(program, terminal, done);
  lockOption(timeoutOption(placeOptions(addWatch(program, terminal, done))));
  addService(program, terminal);
  return program;
}

function addValidate(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const command = program
    .command('validate')
    .description('read and check specs offline; all problems at once')
    .argument('[directory...]', 'config repositories', ['.']);
  commonOptions(command).action(async (directories: string[], flags: ValidateFlags) => {
    const { runValidate } = await import('./commands/validate.js');
    done(await runValidate(directories, flags, terminal));
  });
}

function addReconcile(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const command = program
    .command('reconcile')
    .description('plan, apply, verify; with --dry-run the plan alone')
    .argument('[directory...]', 'config repositories', ['.'])
    .option('--dry-run', 'plan only: what would change, and why')
    .option('--detailed-exitcode', 'with --dry-run: exit 2 when there are changes')
    .option('--prune', 'delete what the specs used to declare and no longer do')
    .option('--adopt', 'take over live objects that differ, also in protected environments')
    .option('--revert-drift', 'undo changes made outside git, also where they are only reported')
    .option('--identities', 'write all identities, also those that were written before')
    .addOption(
      new Option('--plan <file>', 'apply only what equals this plan, JSON of a dry run').conflicts(
        'planHash',
      ),
    )
    .option('--plan-hash <hash>', 'apply only the plan with this hash')
    .option('--since <revision>', 'plan only objects whose specs differ from this revision')
    .option('--approve <hash>', 'let the plan with this hash pass the guards')
    .option('--force', 'also an empty repository or another workspace; asks, or needs --approve')
    .option('--allow-older', 'apply a HEAD that is older than what was applied')
    .option('--allow-dirty', 'apply the working tree instead of HEAD')
    .option('--title <text>', 'title of every write, instead of the commits’')
    .option('--comment <text>', 'comment of every write, instead of the commits’');
  commonOptions(serviceOptions(lockOption(command)), PLAN_FORMATS).action(
    async (directories: string[], flags: ReconcileFlags) => {
      const { runReconcile } = await import('./commands/reconcile.js');
      done(await runReconcile(directories, flags, terminal));
    },
  );
}

function addReview(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const command = program
    .command('review')
    .description('what a merge would do, told to the pull request; writes nothing to the service')
    .argument('[directory...]', 'config repositories', ['.'])
    .option('--since <revision>', 'the target branch (default: as the CI job says)')
    .option('--target <name>', 'name of the target branch, for people')
    .option('--offline', 'without the service: compare with the specs of the target branch')
    .addOption(
      new Option('--forge <name>', 'whom to tell (default: as the CI job says)').choices([
        'github',
        'gitlab',
        'none',
      ]),
    )
    .option('--forge-url <url>', 'of the API of the forge')
    .option('--repository <name>', 'owner/name, or the id of a project')
    .option('--pull-request <number>', 'which pull request or merge request', positive)
    .option('--commit <sha>', 'the commit that gets the statuses')
    .option('--plan-url <url>', 'where a reader finds the full plan')
    .option('--sarif <file>', 'write findings as SARIF')
    .option('--junit <file>', 'write findings as JUnit XML');
  commonOptions(serviceOptions(command), ['markdown']).action(
    async (directories: string[], flags: ReviewFlags) => {
      const { runReview } = await import('./commands/review.js');
      done(await runReview(directories, flags, terminal));
    },
  );
}

function addImport(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const command = program
    .command('import')
    .description('write what is live as files, so that the next plan is empty')
    .argument('[directory]', 'where the config repository is to be', '.')
    .option('--workspace <name>', 'which workspace (default: the only one)')
    .option('--overwrite', 'replace flaghoist.yaml, flags/ and segments/ that are there');
  commonOptions(serviceOptions(command)).action(async (directory: string, flags: ImportFlags) => {
    const { runImport } = await import('./commands/import.js');
    done(await runImport(directory, flags, terminal));
  });
}

function addDrift(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const command = program
    .command('drift')
    .description('what is live and not in git; exit 2 when anything is')
    .argument('[directory...]', 'config repositories', ['.'])
    .option('--adopt', 'write the live values into the files; nothing is committed')
    .option('--allow-older', 'compare with a HEAD that is older than what was applied');
  commonOptions(serviceOptions(command)).action(
    async (directories: string[], flags: DriftFlags) => {
      const { runDrift } = await import('./commands/drift.js');
      done(await runDrift(directories, flags, terminal));
    },
  );
}

function addState(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const state = program.command('state').description('what runs remember: look, forget, rebuild');
  const add = (name: string, description: string): Command =>
    commonOptions(serviceOptions(lockOption(state.command(name).description(description))));
  add('list', 'the objects that are ours, with the commit of each base')
    .argument('[directory]', 'config repository', '.')
    .action(async (directory: string, flags: StateFlags) => {
      const { runStateList } = await import('./commands/state.js');
      done(await runStateList(directory, flags, terminal));
    });
  add('show', 'the bases of one object, as JSON')
    .argument('<object>', 'KIND/NAME, for example flag/new-checkout')
    .argument('[directory]', 'config repository', '.')
    .action(async (object: string, directory: string, flags: StateFlags) => {
      const { runStateShow } = await import('./commands/state.js');
      done(await runStateShow(object, directory, flags, terminal));
    });
  add('rm', 'forget one object: it was never ours, and stays on the service')
    .argument('<object>', 'KIND/NAME, for example flag/new-checkout')
    .argument('[directory]', 'config repository', '.')
    .action(async (object: string, directory: string, flags: StateFlags) => {
      const { runStateRm } = await import('./commands/state.js');
      done(await runStateRm(object, directory, flags, terminal));
    });
  add('rebuild', 'remember anew what is equal to HEAD; writes nothing to the service')
    .argument('[directory]', 'config repository', '.')
    .action(async (directory: string, flags: StateFlags) => {
      const { runStateRebuild } = await import('./commands/state-rebuild.js');
      done(await runStateRebuild(directory, flags, terminal));
    });
  add('unlock', 'free the lock of a shared state (state: { push: true }) whose holder is gone')
    .argument('[directory]', 'config repository', '.')
    .action(async (directory: string, flags: StateFlags) => {
      const { runStateUnlock } = await import('./commands/state.js');
      done(await runStateUnlock(directory, flags, terminal));
    });
}

function addHistory(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const command = program
    .command('history')
    .description('what was applied, newest first')
    .usage('[options] [object] [directory]')
    .argument('[object-or-directory...]', 'KIND/NAME to see only its own; config repository');
  commonOptions(serviceOptions(command)).action(async (words: string[], flags: StateFlags) => {
    const { runHistory } = await import('./commands/history.js');
    done(await runHistory(words, flags, terminal));
  });
}

function lockOption(command: Command): Command {
  return command.option(
    '--lock-timeout <duration>',
    'wait so long for another run to end',
    duration,
    0,
  );
}

/** `kill` and `restore`. */
function addKill(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const acts = { kill: 'kill a flag at once', restore: 'take a kill back at once' } as const;
  for (const [name, what] of Object.entries(acts)) {
    const command = program
      .command(name)
      .description(`${what}, and prepare the commit that makes git agree`)
      .argument('<flag>', 'name of the flag, of this repository or not')
      .argument('[directory]', 'config repository', '.')
      .requiredOption('--environment <name>', 'where, as flaghoist.yaml names it')
      .option('--reason <text>', 'why; goes into the service’s log and into the commit');
    commonOptions(timeoutOption(placeOptions(command))).action(
      async (flag: string, directory: string, flags: KillFlags) => {
        const { runKill } = await import('./commands/kill.js');
        done(await runKill({ flag, directory, isKill: name === 'kill' }, flags, terminal));
      },
    );
  }
}

/** Where the service is. */
function placeOptions(command: Command): Command {
  return command
    .option('--url <url>', 'the administration service (default: FLAGHOIST_URL)')
    .option('--embedded', 'start the embedded service in this process and use it')
    .option('--embedded-dir <path>', 'where the embedded service keeps its data');
}

function timeoutOption(command: Command): Command {
  const what = 'give a dead network up after so long (default: 30s)';
  return command.option('--timeout <duration>', what, duration);
}

function serviceOptions(command: Command): Command {
  placeOptions(command)
    .option('--environment <name>', 'only this environment (repeatable)', collect, [])
    .option(
      '--only <kind/name>',
      'only this object, for example flag/new-checkout (repeatable)',
      collectObject,
      [],
    )
    .option('--concurrency <n>', 'requests at the same time', positive);
  return timeoutOption(command);
}

const FORMATS = ['text', 'json'];
/** Of what prints a plan. */
const PLAN_FORMATS = [...FORMATS, 'markdown'];

function commonOptions(command: Command, formats: readonly string[] = FORMATS): Command {
  return command
    .addOption(new Option('--format <format>', 'of the result').choices(formats))
    .option('--output <file>', 'write the result to a file')
    .option('--show-keys', 'name keys of segments and targets, not only their number')
    .option('--no-color', 'plain text')
    .option('--quiet', 'no progress and no warnings')
    .option('--verbose', 'say more on standard error')
    .addOption(new Option('--log-format <format>', 'of the log').choices(['pretty', 'json']));
}

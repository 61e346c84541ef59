import { Option, type Command } from 'commander';
import { collect, duration, positive } from './arguments.js';
import type { Terminal, WatchFlags } from './commands/options.js';
import type { ExitCode } from './errors.js';

const DEFAULT_INTERVAL_MS = 30_000;
const DEFAULT_DEBOUNCE_MS = 500;
const DEFAULT_LEASE_MS = 15_000;
const HOURLY = '0 * * * *';

/** The `watch` command but for the options that it has in common with others. */
export function addWatch(
  program: Command,
  terminal: Terminal,
  done: (code: ExitCode) => void,
): Command {
  const command = program
    .command('watch')
    .description('keep the service in line with a directory, a branch, or many of them')
    .argument('[directory]', 'config repository', '.');
  sourceOptions(command);
  rhythmOptions(command);
  replicaOptions(command);
  policyOptions(command);
  surfaceOptions(command);
  return command
    .option('--no-color', 'plain text')
    .option('--quiet', 'only warnings and errors in the log')
    .option('--verbose', 'say more in the log')
    .addOption(new Option('--log-format <format>', 'of the log').choices(['pretty', 'json']))
    .action(async (directory: string, flags: WatchFlags) => {
      const { runWatch } = await import('./commands/watch.js');
      done(await runWatch(directory, flags, terminal));
    });
}

function sourceOptions(command: Command): void {
  command
    .option('--repo <url>', 'follow a git server instead of a directory')
    .option('--branch <name>', 'with --repo: which branch (default: the server’s HEAD)')
    .option('--path <path>', 'with --repo: where in the repository flaghoist.yaml lies')
    .addOption(
      new Option('--config <file>', 'follow all sources that this file names').conflicts([
        'repo',
        'branch',
        'path',
      ]),
    );
}

function rhythmOptions(command: Command): void {
  command
    .option('--interval <duration>', 'look for commits so often', duration, DEFAULT_INTERVAL_MS)
    .option(
      '--jitter <duration>',
      'added to the interval by chance (default: a tenth of it)',
      duration,
    )
    .option(
      '--debounce <duration>',
      'wait so long for more changes before a run',
      duration,
      DEFAULT_DEBOUNCE_MS,
    )
    .option('--schedule <cron>', 'full check for drift; or `off`', HOURLY);
}

function surfaceOptions(command: Command): void {
  command
    .option('--listen <[host:]port>', 'serve status page, metrics, health and webhooks')
    .option('--token-file <file>', 'with --listen: take requests that bear one of these tokens')
    .option('--webhook-secret-file <file>', 'with --listen: take webhooks signed with one of these')
    .option('--notify <url>', 'send a message for each run that matters (repeatable)', collect, [])
    .option('--notify-file <file>', 'the same, one address a line')
    .option(
      '--statuses <forge>',
      'set statuses on commits: github or gitlab, or github:owner/name, gitlab:group/project',
    )
    .option('--forge-url <url>', 'with --statuses: of the API of the forge')
    .option('--public-url <url>', 'with --statuses: where people find the status page');
}

function replicaOptions(command: Command): void {
  command
    .option('--database <url>', 'share the work with other replicas, over PostgreSQL')
    .option(
      '--lease <duration>',
      'with --database: a replica that is silent for so long is replaced',
      duration,
      DEFAULT_LEASE_MS,
    );
}

function policyOptions(command: Command): void {
  command
    .option('--environment <name>', 'only this environment (repeatable)', collect, [])
    .option('--concurrency <n>', 'requests at the same time', positive)
    .option('--prune', 'delete what the specs used to declare and no longer do')
    .option('--adopt', 'take over live objects that differ, also in protected environments')
    .option('--revert-drift', 'undo changes made outside git, also where they are only reported')
    .option('--allow-older', 'apply a commit that is older than what was applied')
    .option('--title <text>', 'title of every write, instead of the commits’')
    .option('--comment <text>', 'comment of every write, instead of the commits’');
}

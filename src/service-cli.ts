import { Option, type Command } from 'commander';
import { collect, port } from './arguments.js';
import type { Terminal } from './commands/options.js';
import type { ServiceCommandOptions, StoreOptions } from './commands/service.js';

/** `flaghoist service`, with `keys` and `log` for whoever holds its store. */
export function addService(program: Command, terminal: Terminal): void {
  const service = storeOptions(program.command('service'))
    .description('run the administration service itself')
    .option('--port <number>', 'TCP port; 0: any free one', port, 8080)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--seed <file>', 'JSON file with workspaces, environments and traffic types to create')
    .option('--strict', 'answer the documented contract only')
    .option('--rate-limit <requests/seconds>', 'answer 429 beyond, for example 20/10')
    .addOption(logFormat())
    .action(async (flags: ServiceCommandOptions & LogFlags) => {
      const { runService } = await import('./commands/service.js');
      const { createLog } = await import('./log.js');
      const log = createLog({ level: 'info', format: flags.logFormat, stream: terminal.stderr });
      await runService(flags, { write: writer(terminal), log, signal: terminal.signal });
    });
  addKeys(service, terminal);
  addLog(service, terminal);
}

interface KeyFlags extends StoreOptions {
  readonly workspace: string[];
  readonly environment: string[];
}

interface LogCommandFlags extends StoreOptions {
  readonly object?: string;
  readonly environment?: string;
  readonly format: 'text' | 'json';
}

interface LogFlags {
  readonly logFormat: 'pretty' | 'json';
}

function logFormat(): Option {
  return new Option('--log-format <format>', 'of the log')
    .choices(['pretty', 'json'])
    .default('pretty');
}

/** Known to the subcommands as well: commander takes an option of the parent wherever it stands. */
function storeOptions(command: Command): Command {
  return command
    .option('--directory <path>', 'where the service keeps its data (default: .flaghoist/service)')
    .option('--database <url>', 'a PostgreSQL database instead, as postgres://…')
    .option('--memory', 'keep nothing beyond this process');
}

function writer(terminal: Terminal): (text: string) => void {
  return (text) => {
    terminal.stdout.write(text);
  };
}

function addKeys(service: Command, terminal: Terminal): void {
  const keys = service
    .command('keys')
    .description('Admin API keys of a store that no service has open');
  keys
    .command('create')
    .description('make a key and print it, this once')
    .argument('<name>')
    .option('--workspace <name>', 'only this workspace (repeatable)', collect, [])
    .option('--environment <name>', 'only this environment (repeatable)', collect, [])
    .action(async (name: string, _own: unknown, command: Command) => {
      const { runServiceKeys } = await import('./commands/service.js');
      const flags = command.optsWithGlobals<KeyFlags>();
      const { workspace: workspaces, environment: environments } = flags;
      const create = { action: 'create', name, workspaces, environments } as const;
      await runServiceKeys(flags, create, { write: writer(terminal) });
    });
  keys
    .command('list')
    .description('list keys, without what would let anybody in')
    .action(async (_own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<StoreOptions>();
      const { runServiceKeys } = await import('./commands/service.js');
      await runServiceKeys(flags, { action: 'list' }, { write: writer(terminal) });
    });
  keys
    .command('revoke')
    .description('refuse a key from now on')
    .argument('<id>')
    .action(async (id: string, _own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<StoreOptions>();
      const { runServiceKeys } = await import('./commands/service.js');
      await runServiceKeys(flags, { action: 'revoke', id }, { write: writer(terminal) });
    });
}

function addLog(service: Command, terminal: Terminal): void {
  service
    .command('log')
    .description('what was changed, the newest first, in a store that no service has open')
    .option('--object <kind/name>', 'only this object')
    .option('--environment <name>', 'only this environment')
    .addOption(
      new Option('--format <format>', 'of the result').choices(['text', 'json']).default('text'),
    )
    .action(async (_own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<LogCommandFlags>();
      const { runServiceAudit } = await import('./commands/service.js');
      await runServiceAudit(flags, flags, { write: writer(terminal) });
    });
}

import { readFileSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { FlaghoistError, messageOf } from '../../errors.js';
import { createLog } from '../../platform/log.js';
import { administer, type Administration } from '../../service/administration.js';
import { changeLines, oneLine } from '../../service/change-text.js';
import type { ServiceLog } from '../../service/http/app.js';
import { DEFAULT_SEED, parseSeed, type Seed } from '../../service/seed.js';
import { startService } from '../../service/service.js';
import type { AuditEntry, AuditFilter } from '../../service/store/audit.js';
import type { StoreLocation } from '../../service/store/store.js';
import { collect, port } from '../arguments.js';
import type { DeclareCommand } from '../command.js';
import type { Terminal } from '../terminal.js';

/** Where the store is; the first that is given. Default: the directory `.flaghoist/service`. */
export interface StoreOptions {
  /** `postgres://…` */
  readonly database?: string;
  readonly memory?: boolean;
  readonly directory?: string;
}

/** How the service is run. */
export interface ServiceCommandOptions extends StoreOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: 8080. 0: any free one. */
  readonly port?: number;
  readonly strict?: boolean;
  /** Path of a seed in JSON. Default: one workspace with staging and production. */
  readonly seed?: string;
  /** `REQUESTS/SECONDS`, for example `20/10`. */
  readonly rateLimit?: string;
}

/** Declares `flaghoist service`, with `keys` and `log` for whoever holds its store. */
export const declareService: DeclareCommand = (command, { terminal }) => {
  storeOptions(command)
    .option('--port <number>', 'TCP port; 0: any free one', port, 8080)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--seed <file>', 'JSON file with workspaces, environments and traffic types to create')
    .option('--strict', 'answer the documented contract only')
    .option('--rate-limit <requests/seconds>', 'answer 429 beyond, for example 20/10')
    .addOption(
      new Option('--log-format <format>', 'of the log')
        .choices(['pretty', 'json'])
        .default('pretty'),
    )
    .action(async (options: ServiceCommandOptions & LogOptions) => {
      const log = createLog({ level: 'info', format: options.logFormat, stream: terminal.stderr });
      await runService(options, { write: writer(terminal), log, signal: terminal.signal });
    });
  addKeys(command, terminal);
  addLog(command, terminal);
};

interface KeyOptions extends StoreOptions {
  readonly workspace: string[];
  readonly environment: string[];
}

interface LogCommandOptions extends StoreOptions {
  readonly object?: string;
  readonly environment?: string;
  readonly format: 'text' | 'json';
}

interface LogOptions {
  readonly logFormat: 'pretty' | 'json';
}

/** Where the store is. Subcommands know these options as well: commander takes an option of the parent wherever it stands. */
function storeOptions(command: Command): Command {
  return command
    .option('--directory <path>', 'where the service keeps its data (default: .flaghoist/service)')
    .option('--database <url>', 'a PostgreSQL database instead, as postgres://…')
    .option('--memory', 'keep nothing beyond this process');
}

/** Standard output, as the commands write to it. */
function writer(terminal: Terminal): (text: string) => void {
  return (text) => {
    terminal.stdout.write(text);
  };
}

/** `service keys`. Its subcommands read the options of `service` too, which is why they ask for the global ones. */
function addKeys(service: Command, terminal: Terminal): void {
  const keys = service
    .command('keys')
    .description('Admin API keys of a store, also while a service has it open');
  keys
    .command('create')
    .description('make a key and print it, this once')
    .argument('<name>')
    .option('--workspace <name>', 'only this workspace (repeatable)', collect, [])
    .option('--environment <name>', 'only this environment (repeatable)', collect, [])
    .action(async (name: string, _own: unknown, command: Command) => {
      const options = command.optsWithGlobals<KeyOptions>();
      const { workspace: workspaces, environment: environments } = options;
      const create = { action: 'create', name, workspaces, environments } as const;
      await runServiceKeys(options, create, { write: writer(terminal) });
    });
  keys
    .command('list')
    .description('list keys, without what would let anybody in')
    .action(async (_own: unknown, command: Command) => {
      const options = command.optsWithGlobals<StoreOptions>();
      await runServiceKeys(options, { action: 'list' }, { write: writer(terminal) });
    });
  keys
    .command('revoke')
    .description('refuse a key from now on')
    .argument('<id>')
    .action(async (id: string, _own: unknown, command: Command) => {
      const options = command.optsWithGlobals<StoreOptions>();
      await runServiceKeys(options, { action: 'revoke', id }, { write: writer(terminal) });
    });
}

/** `service log`. */
function addLog(service: Command, terminal: Terminal): void {
  service
    .command('log')
    .description('what was changed, the newest first, also while a service has the store open')
    .option('--object <kind/name>', 'only this object')
    .option('--environment <name>', 'only this environment')
    .addOption(
      new Option('--format <format>', 'of the result').choices(['text', 'json']).default('text'),
    )
    .action(async (_own: unknown, command: Command) => {
      const options = command.optsWithGlobals<LogCommandOptions>();
      await runServiceAudit(options, options, { write: writer(terminal) });
    });
}

/** What a command has to do with the world. */
export interface CommandIo {
  /** Standard output; every text ends with a line feed. */
  readonly write: (text: string) => void;
  readonly log: ServiceLog;
  /** Ends what would go on for ever. */
  readonly signal: AbortSignal;
}

/**
 * Serves until the signal comes, then answers what is under way and returns. Says on standard output where it
 * listens, and, in a store without a valid key, the key that it made: the only time that it can be seen.
 *
 * @throws FlaghoistError `IN_USE`: another service has the directory open, or the port is taken. `USAGE`: the seed or the rate limit cannot be
 *   read.
 */
export async function runService(options: ServiceCommandOptions, io: CommandIo): Promise<void> {
  const service = await startService({
    store: storeLocation(options),
    seed: seedOf(options),
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 8080,
    strict: options.strict ?? false,
    ...(options.rateLimit === undefined ? {} : { rateLimit: parseRateLimit(options.rateLimit) }),
    log: io.log,
  });
  try {
    io.write(`listening on ${service.origin}\n`);
    const firstKey = await firstKeyOf(service);
    if (firstKey !== undefined) io.write(`Admin API key, shown this once: ${firstKey}\n`);
    await aborted(io.signal);
  } finally {
    await service.stop();
  }
}

function storeLocation({ database, memory, directory }: StoreOptions): StoreLocation {
  if (database !== undefined) return { kind: 'postgres', url: database };
  if (memory === true) return { kind: 'memory' };
  return { kind: 'directory', path: directory ?? '.flaghoist/service' };
}

function seedOf({ seed }: ServiceCommandOptions): Seed {
  if (seed === undefined) return DEFAULT_SEED;
  return parseSeed(readText(seed), seed);
}

/** @throws FlaghoistError `USAGE` */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new FlaghoistError('USAGE', `cannot read the seed "${file}": ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** @throws FlaghoistError `USAGE` */
function parseRateLimit(text: string): { requests: number; perSeconds: number } {
  const [, requests, perSeconds] = /^([1-9]\d{0,6})\/([1-9]\d{0,4})$/.exec(text) ?? [];
  if (requests === undefined || perSeconds === undefined) {
    throw new FlaghoistError(
      'USAGE',
      `cannot read the rate limit "${text}": it must be REQUESTS/SECONDS, for example 20/10`,
    );
  }
  return { requests: Number(requests), perSeconds: Number(perSeconds) };
}

/** Makes a key where none is valid, so that a new service can be used. Undefined: there is one. */
async function firstKeyOf(administration: Administration): Promise<string | undefined> {
  const keys = await administration.listKeys();
  if (keys.some(({ revocationTime }) => revocationTime === null)) return undefined;
  return administration.createKey('first');
}

/** Resolves when the signal is aborted, or at once where it was before. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener(
      'abort',
      () => {
        resolve();
      },
      { once: true },
    );
  });
}

/** What is done with the keys of a store. A key itself is shown once, when it is created; later it goes by its id. */
export type KeyCommand =
  | {
      readonly action: 'create';
      readonly name: string;
      /** Ids or names. */
      readonly workspaces?: readonly string[];
      readonly environments?: readonly string[];
    }
  | { readonly action: 'list' }
  | { readonly action: 'revoke'; readonly id: string };

/**
 * Creates, lists or revokes Admin API keys in a store. A running service heeds it from the next request on; it does the
 * same under `/apiKeys`.
 */
export async function runServiceKeys(
  store: StoreOptions,
  command: KeyCommand,
  { write }: Pick<CommandIo, 'write'>,
): Promise<void> {
  await administer(storeLocation(store), async (administration) => {
    switch (command.action) {
      case 'create': {
        const { name, workspaces = [], environments = [] } = command;
        write(`${await administration.createKey(name, { workspaces, environments })}\n`);
        return;
      }
      case 'list':
        for (const { id, name, revocationTime } of await administration.listKeys()) {
          write(`${id}  ${revocationTime === null ? 'valid  ' : 'revoked'}  ${oneLine(name)}\n`);
        }
        return;
      case 'revoke':
        await administration.revokeKey(command.id);
    }
  });
}

/** Which changes are printed, and how. */
export interface AuditCommand {
  /** `KIND/NAME`. Default: everything. */
  readonly object?: string;
  /** Id or name. */
  readonly environment?: string;
  readonly format: 'text' | 'json';
}

/**
 * Prints all that was changed, the newest first: as text with a line for each member that a change touched, as JSON
 * one list with everything. Where nothing was changed, nothing, or an empty list in JSON.
 */
export async function runServiceAudit(
  store: StoreOptions,
  { object, environment, format }: AuditCommand,
  { write }: Pick<CommandIo, 'write'>,
): Promise<void> {
  const [kind, ...name] = object?.split('/') ?? [];
  const filter: AuditFilter = {
    ...(kind === undefined ? {} : { kind }),
    ...(name.length === 0 ? {} : { name: name.join('/') }),
    ...(environment === undefined ? {} : { environment }),
  };
  await administer(storeLocation(store), async (administration) => {
    if (format === 'text') {
      for await (const entry of allEntries(administration, filter)) {
        write(`${changeLines(entry).join('\n')}\n`);
      }
      return;
    }
    let before = '[';
    for await (const entry of allEntries(administration, filter)) {
      write(`${before}\n${JSON.stringify(entry)}`);
      before = ',';
    }
    write(before === '[' ? '[]\n' : '\n]\n');
  });
}

const ENTRIES_AT_ONCE = 1_000;

/** All entries that match, the newest first, read page by page: the log may be longer than the memory. */
async function* allEntries(
  administration: Administration,
  filter: AuditFilter,
): AsyncGenerator<AuditEntry> {
  let last: AuditEntry | undefined;
  do {
    const older = last === undefined ? filter : { ...filter, before: last.id };
    const page = await administration.audit(older, { offset: 0, limit: ENTRIES_AT_ONCE });
    yield* page;
    last = page.length === ENTRIES_AT_ONCE ? page.at(-1) : undefined;
  } while (last !== undefined);
}

import { Option, type Command } from 'commander';
import { isValidKey, reachText, type NamedKey } from '../../../service/admin-keys.js';
import { administer, type Administration } from '../../../service/service.js';
import { FlagkeelError } from '../../../errors.js';
import type { ServiceLog } from '../../../service/http/key-check.js';
import type { KeyType } from '../../../service/store/tables.js';
import type { AuditEntry, AuditFilter } from '../../../service/store/audit.js';
import { backUp, restore, type BackupSummary } from '../../../service/store/backup.js';
import { isToBeMade, type StoreLocation } from '../../../service/store/store.js';
import { present } from '../../../model/collections.js';
import { clean } from '../../../report/sanitize.js';
import { renderLines } from '../../../report/text/layout.js';
import { serviceChangeLines } from '../../../console/log.js';
import { durationOption, repeatableOption } from '../../options.js';
import { type Terminal, prettyJson } from '../../terminal.js';

/** Standard output; every text ends with a line feed. */
export type Write = (text: string) => void;

export interface CommandIo {
  readonly write: Write;
  readonly log: ServiceLog;
  readonly signal: AbortSignal;
}

/** Where the store is; the first that is given. Default: the directory `.flagkeel/service`. */
export interface StoreOptions {
  readonly database?: string;
  readonly memory?: boolean;
  readonly directory?: string;
}

interface SubcommandOptions extends StoreOptions {
  readonly workspace: readonly string[];
  /** `service` takes the option for all its subcommands. */
  readonly environment: readonly string[];
  readonly type: KeyType;
  /** Milliseconds from now on. */
  readonly expires?: number;
  readonly format: 'text' | 'json';
  readonly object?: string;
}

export function storeLocation({ database, memory, directory }: StoreOptions): StoreLocation {
  if (database !== undefined) return { kind: 'postgres', url: database };
  if (memory === true) return { kind: 'memory' };
  return { kind: 'directory', path: directory ?? '.flagkeel/service' };
}

/** Of the service, and of each subcommand: there for its help alone, because `service` takes them wherever they stand. */
export function storeOptions(command: Command): Command {
  return command
    .option('--directory <path>', 'where the service keeps its data (default: .flagkeel/service)')
    .option('--database <url>', 'a PostgreSQL database instead, as postgres://…');
}

export function writer(terminal: Pick<Terminal, 'stdout'>): Write {
  return (text) => {
    terminal.stdout.write(text);
  };
}

/** To look into a directory that was mistyped must not make a store there. @throws FlagkeelError `USAGE` */
function existingStore(options: StoreOptions): StoreLocation {
  const location = storeLocation(options);
  if (location.kind !== 'directory' || !isToBeMade(location)) return location;
  const why = 'there is none (--directory names another one)';
  throw new FlagkeelError('USAGE', `cannot read the store in "${location.path}": ${why}`);
}

export function declareStoreCommands(service: Command, terminal: Terminal): void {
  const write = writer(terminal);
  addKeys(service, write);
  addLog(service, write);
  addBackup(service, write);
}

/** An action that gets the options of `service` too: commander takes those wherever they stand. */
function onStore(
  act: (options: SubcommandOptions, word: string) => Promise<void>,
): (...given: readonly unknown[]) => Promise<void> {
  return async (...given) => {
    const command = given.at(-1) as Command;
    await act(command.optsWithGlobals<SubcommandOptions>(), command.args[0] ?? '');
  };
}

function addBackup(service: Command, write: Write): void {
  const copies =
    'copy the store into a file, as it is at one moment, also while a service has it open';
  storeOptions(service.command('backup'))
    .description(copies)
    .argument('<file>')
    .action(
      onStore(async (options, file) => {
        const summary = await backUp(existingStore(options), file, Date.now());
        write(`wrote ${file}: ${countsText(summary)}\n`);
      }),
    );
  storeOptions(service.command('restore'))
    .description('fill a store that holds nothing from a backup')
    .argument('<file>')
    .action(
      onStore(async (options, file) => {
        const summary = await restore(storeLocation(options), file);
        write(`restored ${file}, taken at ${summary.takenAt}: ${countsText(summary)}\n`);
      }),
    );
}

function countsText({ rows, keys }: BackupSummary): string {
  const { flags = 0, segments = 0, audit = 0 } = rows;
  return `${flags} flags, ${segments} segments, ${keys} keys of segments, ${audit} entries of the audit log`;
}

function addKeys(service: Command, write: Write): void {
  const keys = service
    .command('keys')
    .description('API keys of a store, also while a service has it open');
  const types = 'server_side and client_side: for the applications of one environment';
  const type = new Option('--type <type>', types).choices(['admin', 'server_side', 'client_side']);
  storeOptions(keys.command('create'))
    .description('make a key and print it, this once')
    .argument('<name>')
    .addOption(repeatableOption('--workspace <name>', 'only this workspace'))
    .addOption(
      repeatableOption('--environment <name>', 'only this environment, of these workspaces'),
    )
    .addOption(type.default('admin'))
    .addOption(durationOption('--expires', 'refuse the key after that time, for example 90d'))
    .action(
      onStore(async (options, name) => {
        const { workspace, environment, expires } = options;
        await administer(storeLocation(options), async (administration) => {
          const key = await administration.createKey(name, {
            apiKeyType: options.type,
            workspaces: workspace.length === 0 ? undefined : workspace,
            environments: environment.length === 0 ? undefined : environment,
            expirationTime: expires === undefined ? undefined : Date.now() + expires,
          });
          write(`${key}\n`);
        });
      }),
    );
  storeOptions(keys.command('list'))
    .description('list keys, what they reach, when they end and were last used, without secrets')
    .addOption(formatOption())
    .action(
      onStore(async (options) =>
        administer(existingStore(options), async (administration) => {
          write(keysText(await administration.listKeys(), options));
        }),
      ),
    );
  storeOptions(keys.command('revoke'))
    .description('refuse a key from now on')
    .argument('<id>')
    .action(
      onStore(async (options, id) =>
        administer(existingStore(options), async (administration) => administration.revokeKey(id)),
      ),
    );
}

function formatOption(): Option {
  return new Option('--format <format>', 'of the result').choices(['text', 'json']).default('text');
}

function addLog(service: Command, write: Write): void {
  storeOptions(service.command('log'))
    .description('what was changed, the newest first, also while a service has the store open')
    .option('--object <kind/name>', 'only this object')
    .option('--environment <name>', 'only this environment')
    .addOption(formatOption())
    .action(
      onStore(async (options) =>
        administer(existingStore(options), async (administration) =>
          writeLog(administration, options, write),
        ),
      ),
    );
}

/** A key that ends within this time is called `ending`, as a reminder to replace it. */
const ENDING_WITHIN_MS = 14 * 86_400_000;

function keysText(keys: readonly NamedKey[], { format }: SubcommandOptions): string {
  const now = Date.now();
  if (format === 'text') return keys.map((key) => `${keyLine(key, now)}\n`).join('');
  return prettyJson(keys.map((key) => ({ ...key, state: stateOf(key, now) })));
}

/** `ID  STATE  NAME  last used …  ends …  reaches …`, or `server_side of …`; the states are of one width. */
function keyLine(key: NamedKey, now: number): string {
  const { id, name, apiKeyType, lastUseTime, expirationTime: end } = key;
  // Uses are noted to the hour: `2026-11-22T20Z`.
  const hour = new Date(lastUseTime ?? 0).toISOString().slice(0, 13);
  const used = lastUseTime === null ? 'not used' : `last used ${hour}Z`;
  const ends = end === null ? '' : `  ends ${new Date(end).toISOString()}`;
  const serves = apiKeyType === 'admin' ? 'reaches' : `${apiKeyType} of`;
  const reaches = `  ${serves} ${clean(reachText(key))}`;
  return `${id}  ${stateOf(key, now).padEnd(7)}  ${clean(name)}  ${used}${ends}${reaches}`;
}

function stateOf(key: NamedKey, now: number): string {
  if (key.revocationTime !== null) return 'revoked';
  if (!isValidKey(key, now)) return 'expired';
  return isValidKey(key, now + ENDING_WITHIN_MS) ? 'valid' : 'ending';
}

async function writeLog(
  administration: Administration,
  { object, environment, format }: SubcommandOptions,
  write: Write,
): Promise<void> {
  const [kind, ...name] = object?.split('/') ?? [];
  const place = environment.at(-1);
  const named = name.length > 0 ? name.join('/') : undefined;
  const filter: AuditFilter = present({ kind, name: named, environment: place });
  if (format === 'text') {
    for await (const entry of allEntries(administration, filter)) write(entryText(entry));
    return;
  }
  let before = '[';
  for await (const entry of allEntries(administration, filter)) {
    write(`${before}\n${JSON.stringify(entry)}`);
    before = ',';
  }
  write(before === '[' ? '[]\n' : '\n]\n');
}

function entryText(entry: AuditEntry): string {
  const place = entry.environment === null ? '' : `@${entry.environment}`;
  const key = entry.keyId === null ? '' : ` (${entry.keyId})`;
  const notes = [entry.title, entry.comment].flatMap((text) =>
    text === null ? [] : [`  ${text}`],
  );
  const object = `${entry.kind}/${entry.name}${place}`;
  const headline = `${entry.action}  ${object}  by ${entry.keyName ?? '?'}${key}${notes.join('')}`;
  const lines = serviceChangeLines(entry).map((spans) => ({ indent: 4, spans }));
  const details = renderLines(lines, { color: false, width: Infinity });
  return `${new Date(entry.time).toISOString()}  ${clean(headline)}\n${details}`;
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

import { readFileSync } from 'node:fs';
import { FlaghoistError, messageOf } from '../errors.js';
import { administer, type Administration } from '../service/administration.js';
import type { ServiceLog } from '../service/app.js';
import { DEFAULT_SEED, parseSeed } from '../service/seed-file.js';
import type { Seed } from '../service/seed.js';
import { startService } from '../service/service.js';
import type { AuditEntry } from '../service/store/audit.js';
import type { StoreLocation } from '../service/store/store.js';

/** Where the store is; the first that is given. Default: the directory `.flaghoist/service`. */
export interface StoreOptions {
  /** `postgres://…` */
  readonly database?: string;
  readonly memory?: boolean;
  readonly directory?: string;
}

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

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new FlaghoistError('USAGE', `cannot read the seed "${file}": ${messageOf(error)}`, {
      cause: error,
    });
  }
}

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

async function firstKeyOf(administration: Administration): Promise<string | undefined> {
  const keys = await administration.listKeys();
  if (keys.some(({ revocationTime }) => revocationTime === null)) return undefined;
  return administration.createKey('first');
}

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
 * Creates, lists or revokes Admin API keys in a store that no service has open; a running one does the same under
 * `/apiKeys`.
 *
 * @throws FlaghoistError (IN_USE) a service has the store open.
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

export interface AuditCommand {
  /** `KIND/NAME`. Default: everything. */
  readonly object?: string;
  /** Id or name. */
  readonly environment?: string;
  readonly format: 'text' | 'json';
}

/** Prints what was changed, the newest first. The store must not be open in a service. */
export async function runServiceAudit(
  store: StoreOptions,
  { object, environment, format }: AuditCommand,
  { write }: Pick<CommandIo, 'write'>,
): Promise<void> {
  const [kind, ...name] = object?.split('/') ?? [];
  const entries = await administer(storeLocation(store), async (administration) =>
    administration.audit({
      ...(kind === undefined ? {} : { kind }),
      ...(name.length === 0 ? {} : { name: name.join('/') }),
      ...(environment === undefined ? {} : { environment }),
    }),
  );
  if (format === 'json') write(`${JSON.stringify(entries, null, 2)}\n`);
  else for (const entry of entries) write(`${auditLine(entry)}\n`);
}

function auditLine(entry: AuditEntry): string {
  const place = entry.environment === null ? '' : `@${entry.environment}`;
  const words = entry.title === null ? '' : `  ${oneLine(entry.title)}`;
  const time = new Date(entry.time).toISOString();
  return `${time}  ${entry.action}  ${entry.kind}/${oneLine(entry.name + place)}  by ${oneLine(entry.keyName ?? '?')}${words}`;
}

/** Names and titles were sent by others: nothing of them may move the cursor or start a line. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
}

import { FlagkeelError } from '../../../errors.js';
import { addConsole } from '../../../console/console.js';
import { addApplications } from '../../../sdk/applications.js';
import { readBounded } from '../../../platform/bounded-file.js';
import { createLog } from '../../../platform/log.js';
import { isValidKey } from '../../../service/admin-keys.js';
import {
  type Administration,
  type ServiceOptions,
  startService,
} from '../../../service/service.js';
import { DEFAULT_SEED, parseSeed } from '../../../service/seed.js';
import { ServiceMetrics } from '../../../service/metrics.js';
import { collect, durationOption, exactMoment, logFormatOption, port } from '../../options.js';
import type { DeclareCommand } from '../../command.js';
import { aborted } from '../../terminal.js';
import type { SpecsOptions } from './specs.js';
import {
  declareStoreCommands,
  storeLocation,
  storeOptions,
  writer,
  type CommandIo,
  type StoreOptions,
} from './store.js';

export interface ServiceCommandOptions
  extends StoreOptions, Pick<ServiceOptions, 'host' | 'port' | 'strict'> {
  /** False: there are no pages for people. Default: there are, unless `strict`. */
  readonly console?: boolean;
  readonly seed?: string;
  readonly rateLimit?: string;
  /** In milliseconds. Default: 30 days. */
  readonly requestsExpire?: number;
  /** In milliseconds. Default: never. */
  readonly logExpires?: number;
}

export const declareService: DeclareCommand = (command, { terminal }) => {
  const requestsExpire = 'withdraw change requests that stay open for longer (default: 30d)';
  const logExpires = 'delete older entries of the audit log, for example 365d (default: never)';
  const environment = 'with specs: default: the first of the config (repeatable: the first counts)';
  storeOptions(command)
    .option('--memory', 'keep nothing beyond this process')
    .option('--port <number>', 'TCP port; 0: any free one', port, 8080)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--seed <file>', 'JSON file with workspaces, environments and traffic types to create')
    .option('--strict', 'answer the documented contract only')
    .option('--no-console', 'have no pages for people at /')
    .option('--rate-limit <requests/seconds>', 'answer 429 beyond, for example 20/10')
    .addOption(durationOption('--requests-expire', requestsExpire))
    .addOption(durationOption('--log-expires', logExpires))
    .optionsGroup('Specs instead of a store:')
    .option('--specs <directory>', 'serve applications what these specs say, and nothing else')
    .option('--repo <url>', 'the same from a git server')
    .option('--branch <name>', 'with --repo: default: its HEAD')
    .option('--path <path>', 'with --repo: of the config directory')
    .option('--environment <name>', environment, collect, [])
    .option('--at <time>', 'with specs: ramps as they are at this moment', exactMoment)
    .addOption(logFormatOption().default('pretty'))
    .action(async (options: ServiceCommandOptions & LogOptions & SpecsOptions) => {
      const log = createLog({ level: 'info', format: options.logFormat, stream: terminal.stderr });
      const io = { write: writer(terminal), log, signal: terminal.signal };
      if (options.specs !== undefined || options.repo !== undefined) {
        const { serveSpecs } = await import('./specs.js');
        await serveSpecs(options, terminal.environment, io);
      } else await runService(options, io);
    });
  declareStoreCommands(command, terminal);
};

interface LogOptions {
  readonly logFormat: 'pretty' | 'json';
}

/**
 * Serves until the signal comes. In a store without a valid key it prints the key that it made: the only time that it can
 * be seen. @throws FlagkeelError `IN_USE`, `USAGE`
 */
export async function runService(options: ServiceCommandOptions, io: CommandIo): Promise<void> {
  const { seed: file } = options;
  const seed =
    file === undefined
      ? DEFAULT_SEED
      : parseSeed(String(await readBounded(file, 'read the seed')), file);
  const service = await startService({
    store: storeLocation(options),
    seed,
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 8080,
    strict: options.strict ?? false,
    // The contract shows none.
    metrics: options.strict === true ? undefined : new ServiceMetrics(),
    console: options.strict === true || options.console === false ? undefined : addConsole,
    applications: options.strict === true ? undefined : addApplications,
    requestsExpireAfterMs: expiryOf('--requests-expire', options.requestsExpire),
    logExpiresAfterMs: expiryOf('--log-expires', options.logExpires),
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

/** With 0 no request could be decided, and no entry be read. */
function expiryOf(option: string, afterMs: number | undefined): number | undefined {
  if (afterMs !== 0) return afterMs;
  throw new FlagkeelError('USAGE', `${option} must be longer than 0s`);
}

function parseRateLimit(text: string): { requests: number; perSeconds: number } {
  const [, requests, perSeconds] = /^([1-9]\d{0,6})\/([1-9]\d{0,4})$/.exec(text) ?? [];
  if (requests === undefined || perSeconds === undefined) {
    const why = 'it must be REQUESTS/SECONDS, for example 20/10';
    throw new FlagkeelError('USAGE', `cannot read the rate limit "${text}": ${why}`);
  }
  return { requests: Number(requests), perSeconds: Number(perSeconds) };
}

/** Makes a key if none is valid, so that a new service can be used. */
async function firstKeyOf(administration: Administration): Promise<string | undefined> {
  const keys = await administration.listKeys();
  const admins = keys.filter(({ apiKeyType }) => apiKeyType === 'admin');
  if (admins.some((key) => isValidKey(key, Date.now()))) return undefined;
  return administration.createKey('first');
}

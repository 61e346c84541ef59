import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseDuration } from '../arguments.js';
import type { WatchedSource } from '../compose/watch.js';
import { secretInFile, type OperatorSettings } from '../config.js';
import { isSchedule } from '../daemon/schedule.js';
import { FlaghoistError, messageOf } from '../errors.js';
import type { SourceSpec } from '../generated/watch.schema.d.ts';
import { diagnosticsText } from '../report/diagnostics-text.js';
import { readWatchConfig } from '../specs/read-watch-config.js';
import type { WatchFlags } from './options.js';

const JITTER_PART = 0.1;
const MIN_INTERVAL_MS = 100;

/**
 * What the operator wants watched: by the command line alone, or by a file with many sources, for which the command
 * line says what the file does not.
 *
 * @throws FlaghoistError `USAGE`
 */
export async function watchedSources(
  directory: string,
  flags: WatchFlags,
  settings: OperatorSettings,
): Promise<readonly WatchedSource[]> {
  if (flags.config !== undefined) {
    const { config } = flags;
    const specs = await readSources(config);
    return specs.map((spec) => sourceOf(spec, dirname(resolve(config)), flags, settings));
  }
  const { repo, branch, path } = flags;
  if (repo === undefined && (branch !== undefined || path !== undefined)) {
    throw new FlaghoistError('USAGE', 'cannot use --branch or --path without --repo');
  }
  const place = repo === undefined ? { directory } : { repo, branch, path };
  return [{ ...rhythm(flags), name: 'default', place, run: flags, settings }];
}

async function readSources(file: string): Promise<readonly SourceSpec[]> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    const message = `cannot read the sources in "${file}": ${messageOf(error)}`;
    throw new FlaghoistError('USAGE', message, { cause: error });
  }
  const result = readWatchConfig(file, bytes);
  if (result.ok) return result.config.sources;
  const problems = diagnosticsText(result.diagnostics, { color: false });
  throw new FlaghoistError('USAGE', `cannot use the sources in "${file}": ${problems}`);
}

function sourceOf(
  spec: SourceSpec,
  folder: string,
  flags: WatchFlags,
  settings: OperatorSettings,
): WatchedSource {
  const { name, directory, repo, branch, path, environments, interval, schedule } = spec;
  const { url, prune, adopt, revertDrift } = spec;
  const place =
    repo === undefined ? { directory: resolve(folder, directory ?? '.') } : { repo, branch, path };
  return {
    ...rhythm({
      ...flags,
      ...(interval !== undefined && { interval: parseDuration(interval) ?? flags.interval }),
      ...(schedule !== undefined && { schedule }),
    }),
    ...{ name, place, settings: ownSettings(spec, folder, settings) },
    run: {
      ...flags,
      ...(environments !== undefined && { environment: environments }),
      ...(url !== undefined && { url }),
      ...(prune !== undefined && { prune }),
      ...(adopt !== undefined && { adopt }),
      ...(revertDrift !== undefined && { revertDrift }),
    },
  };
}

/** Credentials of one source go before those of the environment. */
function ownSettings(
  { apiKeyFile, gitUser, gitTokenFile, sshKeyFile, knownHostsFile }: SourceSpec,
  folder: string,
  settings: OperatorSettings,
): OperatorSettings {
  const { git } = settings;
  const at = (file: string): string => resolve(folder, file);
  return {
    ...settings,
    ...(apiKeyFile !== undefined && {
      apiKey: () => secretInFile(at(apiKeyFile), 'Admin API key'),
    }),
    git: {
      user: gitUser ?? git.user,
      token:
        gitTokenFile === undefined
          ? git.token
          : () => secretInFile(at(gitTokenFile), 'token of the git server'),
      sshKeyFile: sshKeyFile === undefined ? git.sshKeyFile : at(sshKeyFile),
      knownHostsFile: knownHostsFile === undefined ? git.knownHostsFile : at(knownHostsFile),
    },
  };
}

function rhythm(
  flags: WatchFlags,
): Pick<WatchedSource, 'intervalMs' | 'jitterMs' | 'debounceMs' | 'schedule' | 'words'> {
  const { interval, jitter, debounce, schedule, title, comment } = flags;
  if (interval < MIN_INTERVAL_MS) {
    throw new FlaghoistError('USAGE', `cannot look more often than every ${MIN_INTERVAL_MS} ms`);
  }
  if (schedule !== 'off' && !isSchedule(schedule)) {
    throw new FlaghoistError(
      'USAGE',
      `cannot use the schedule "${schedule}": five fields of cron are expected, or off`,
    );
  }
  return {
    intervalMs: interval,
    jitterMs: jitter ?? interval * JITTER_PART,
    debounceMs: debounce,
    schedule: schedule === 'off' ? null : schedule,
    words: { ...(title !== undefined && { title }), ...(comment !== undefined && { comment }) },
  };
}

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { operatorSettings, type OperatorSettings } from '../../../compose/settings.js';
import { LocalUpstream } from '../../../daemon/upstream/local.js';
import { RemoteUpstream, type Seen, type Upstream } from '../../../daemon/upstream/upstream.js';
import { FlagkeelError, messageOf } from '../../../errors.js';
import { remoteAccess } from '../../../git/remote-access.js';
import type { Desired } from '../../../model/desired.js';
import { previewOf } from '../../../sdk/applications.js';
import { SpecsEnvironment } from '../../../sdk/specs-environment.js';
import { startService, type ServiceOptions } from '../../../service/service.js';
import { firstFault, readSpecs } from '../../../specs/read-specs.js';
import { quoted } from '../../../report/sanitize.js';
import type { CommandIo } from './store.js';

export interface SpecsOptions extends Pick<ServiceOptions, 'host' | 'port'> {
  readonly specs?: string;
  readonly repo?: string;
  readonly branch?: string;
  readonly path?: string;
  readonly environment: readonly string[];
  /** Milliseconds since the epoch: ramps stand where they are then. Default: now, and they go on. */
  readonly at?: number;
}

/** How often specs are looked at without a hint. A hint of the file system is followed at once. */
const LOCAL_EVERY_MS = 2_000;
const REMOTE_EVERY_MS = 15_000;

/**
 * Serves until the signal comes. Specs that become invalid meanwhile change nothing. @throws FlagkeelError
 * `SPECS_INVALID` at the start; `USAGE`: the config has no such environment.
 */
export async function serveSpecs(
  options: SpecsOptions,
  environment: Readonly<Record<string, string | undefined>>,
  io: CommandIo,
): Promise<void> {
  const { git, applicationKey } = operatorSettings(environment);
  const folder = options.repo === undefined ? undefined : mkdtempSync(join(tmpdir(), 'flagkeel-'));
  try {
    const upstream = upstreamOf(options, folder, git);
    const first = await upstream.poll(io.signal);
    const desired = await readAt(upstream, first);
    const served = servedEnvironment(desired, options.environment);
    const environmentServed = new SpecsEnvironment(served, Date.now());
    environmentServed.serve(desired, options.at ?? Date.now());
    const key = applicationKey ?? randomBytes(24).toString('hex');
    const { host = '127.0.0.1', port = 8080 } = options;
    const service = await startService({
      host,
      port,
      log: io.log,
      strict: true,
      store: { kind: 'memory' },
      seed: { workspaces: [] },
      applications: previewOf(environmentServed, key),
    });
    try {
      io.write(`listening on ${service.origin}\n`);
      io.write(`serving ${upstream.location}, environment ${served}\n`);
      if (applicationKey === undefined) io.write(`key of applications: ${key}\n`);
      await follow(upstream, { seen: first, desired }, environmentServed, options, io);
    } finally {
      await service.stop();
    }
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function upstreamOf(
  { specs, repo, branch, path = '' }: SpecsOptions,
  folder: string | undefined,
  git: OperatorSettings['git'],
): Upstream {
  if (repo === undefined || folder === undefined) return new LocalUpstream(resolve(specs ?? '.'));
  const remote = remoteAccess({ ...git, url: repo });
  return new RemoteUpstream({ directory: folder, remote, branch: branch ?? null, path });
}

async function readAt(upstream: Upstream, { commit, localFiles }: Seen): Promise<Desired> {
  const hash = localFiles === null ? (commit?.commit ?? null) : null;
  await using source = await upstream.open(hash);
  const result = await readSpecs(source.tree);
  if (result.ok) return result.desired;
  const why = `${firstFault(result.diagnostics)} (flagkeel validate lists every problem)`;
  throw new FlagkeelError('SPECS_INVALID', `cannot serve ${upstream.location}: ${why}`);
}

function servedEnvironment({ config }: Desired, [name]: readonly string[]): string {
  const known = config.environments.map((each) => each.name);
  const served = name ?? known[0];
  if (served !== undefined && known.includes(served)) return served;
  const why = `flagkeel.yaml has ${known.join(', ')}`;
  throw new FlagkeelError('USAGE', `cannot serve environment ${quoted(name ?? '')}: ${why}`);
}

async function follow(
  upstream: Upstream,
  start: { readonly seen: Seen; readonly desired: Desired },
  served: SpecsEnvironment,
  options: SpecsOptions,
  { log, signal }: CommandIo,
): Promise<void> {
  let { seen, desired } = start;
  let hinted = new AbortController();
  const end = upstream.follow(() => {
    hinted.abort();
  });
  const everyMs = upstream.kind === 'remote' ? REMOTE_EVERY_MS : LOCAL_EVERY_MS;
  const isEnding = (): boolean => signal.aborted;
  while (!isEnding()) {
    const either = AbortSignal.any([signal, hinted.signal]);
    await wait(everyMs, undefined, { signal: either }).catch(() => undefined);
    hinted = new AbortController();
    try {
      const next = await upstream.poll(signal);
      const isSame =
        next.commit?.commit === seen.commit?.commit && next.localFiles === seen.localFiles;
      seen = next;
      if (!isSame) desired = await readAt(upstream, next);
      const changed = served.serve(desired, options.at ?? Date.now());
      if (changed.length > 0) log.info({ changed, commit: next.commit?.commit }, 'serving');
    } catch (error) {
      if (!isEnding()) log.warn({ error: messageOf(error) }, 'still serving what was valid');
    }
  }
  await end();
}

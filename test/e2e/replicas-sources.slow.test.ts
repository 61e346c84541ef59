import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { openDatabase, type TestDatabase } from '../support/database.js';
import { lacks } from '../support/requirements.js';
import { useScenario } from '../support/scenario.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';
import { Watching } from '../support/watching.js';

const SOURCES = ['shop', 'app', 'mail', 'web'];
const LEASE_MS = 2_000;

const flag = (name: string, percent: number): string => flagText(name, percent, { staging: '' });

describe.skipIf(lacks('postgresql'))('replicas with several sources', () => {
  const scenario = useScenario({ store: { kind: 'memory' } });
  let root: string;
  let origin: string;
  let postgres: TestDatabase;
  let live: LiveWorkspace;
  let replicas: Watching[];

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'flagkeel-sources-'));
    origin = join(root, 'flags.git');
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', origin]);
    postgres = await openDatabase();
    live = await liveWorkspace(scenario.service);
    replicas = [];
    const sources = SOURCES.map(
      (name) => `  - { name: ${name}, repo: ${origin}, path: ${name} }\n`,
    );
    writeFileSync(join(root, 'sources.yaml'), `sources:\n${sources.join('')}`);
  });

  afterEach(async () => {
    for (const each of replicas) await each.stop('SIGKILL');
    await postgres.stop();
    // Programs that git leaves behind may still write there; the retries of `rmSync` itself do not look for new files.
    await vi.waitFor(() => {
      rmSync(root, { recursive: true, force: true });
    }, 30_000);
  });

  function start(): Watching {
    const quick = ['--interval', '200ms', '--jitter', '50ms', '--debounce', '20ms'];
    const watching = new Watching(
      [
        ...quick,
        ...['--schedule', 'off', '--config', join(root, 'sources.yaml')],
        ...['--url', scenario.service.origin, '--lease', `${String(LEASE_MS)}ms`],
      ],
      {
        ...scenario.env,
        FLAGKEEL_DATABASE: postgres.url,
        FLAGKEEL_STATE_DIR: join(root, `replica-${String(replicas.length)}.git`),
      },
      root,
    );
    replicas.push(watching);
    return watching;
  }

  /** One flag for each source, which bears its name. */
  function push(percent: number): void {
    const { repository } = scenario;
    for (const name of SOURCES)
      repository.write({
        [`${name}/flagkeel.yaml`]: STAGING_CONFIG,
        [`${name}/flags/${name}.yaml`]: flag(name, percent),
      });
    repository.commit(`Ramp to ${String(percent)}`);
    repository.git('push', '--quiet', origin, 'HEAD:refs/heads/main');
  }

  async function share(name: string): Promise<unknown> {
    const { body } = await live.call('GET', live.at(name, 'staging'));
    return (body as { defaultRule?: { size: number }[] }).defaultRule?.[0]?.size;
  }

  async function applied(percent: number, by: Watching): Promise<void> {
    await by.until(
      async () => (await Promise.all(SOURCES.map(share))).every((each) => each === percent),
      'all of them',
    );
  }

  /** By its log, in the order of `SOURCES`. */
  function kept(replica: Watching): string[] {
    const kept = new Set<string>();
    for (const { msg, source = '' } of replica.lines) {
      if (msg === 'this replica keeps the source now') kept.add(source);
      if (msg === 'this replica keeps the source no longer') kept.delete(source);
    }
    return SOURCES.filter((name) => kept.has(name));
  }

  it('share them out, apply all of them, and take over those of one that died', async () => {
    push(10);
    const one = start();
    await applied(10, one);
    expect(kept(one)).toEqual(SOURCES);

    const other = start();
    await other.until(() => kept(other).length === SOURCES.length / 2, 'its part');
    push(20);
    await applied(20, other);
    await other.until(() => other.runs.some(({ result }) => result === 'applied'), 'a run of it');

    await one.stop('SIGKILL');
    push(30);
    await applied(30, other);
    expect(kept(other)).toEqual(SOURCES);
  });

  it('say that the service is away of the sources too that another one keeps', async () => {
    push(10);
    await applied(10, start());
    const other = start();
    await other.until(() => kept(other).length === SOURCES.length / 2, 'its part');

    scenario.service.failAtRandom(() => 401);

    const isSaid = (name: string): boolean =>
      other.lines.some(({ msg, source }) => msg === 'service out of reach' && source === name);
    const others = SOURCES.filter((name) => !kept(other).includes(name));
    await other.until(() => others.every(isSaid), 'the trouble of the others');
  });
});

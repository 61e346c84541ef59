import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeDirectory } from '../support/git.js';
import { ReplicaWorld } from '../support/replica-world.js';
import { lacks } from '../support/requirements.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';
import type { Watching } from '../support/watching.js';

const SOURCES = ['shop', 'app', 'mail', 'web'];

describe.skipIf(lacks('postgresql'))('replicas with several sources', () => {
  let world: ReplicaWorld;
  let file: string;

  beforeEach(async () => {
    world = await ReplicaWorld.open(2_000);
    file = join(makeDirectory(), 'sources.yaml');
    const sources = SOURCES.map(
      (name) => `  - { name: ${name}, repo: ${world.origin}, path: ${name} }\n`,
    );
    writeFileSync(file, `sources:\n${sources.join('')}`);
  });

  afterEach(async () => {
    await world[Symbol.asyncDispose]();
  });

  async function start(): Promise<Watching> {
    return (await world.start([], ['--config', file])).watching;
  }

  /** One flag for each source, which bears its name. */
  function push(percent: number): void {
    const files = SOURCES.flatMap((name) => [
      [`${name}/flagkeel.yaml`, STAGING_CONFIG] as const,
      [`${name}/flags/${name}.yaml`, flagText(name, percent, { staging: '' })] as const,
    ]);
    world.pushFiles(`Ramp to ${String(percent)}`, Object.fromEntries(files));
  }

  async function applied(percent: number, by: Watching): Promise<void> {
    const share = async (name: string): Promise<unknown> => {
      const { body } = await world.live.call('GET', world.live.at(name, 'staging'));
      return (body as { defaultRule?: { size: number }[] }).defaultRule?.[0]?.size;
    };
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
    const one = await start();
    await applied(10, one);
    expect(kept(one)).toEqual(SOURCES);

    const other = await start();
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
    await applied(10, await start());
    const other = await start();
    await other.until(() => kept(other).length === SOURCES.length / 2, 'its part');

    world.service.failAtRandom(() => 401);

    const isSaid = (name: string): boolean =>
      other.lines.some(({ msg, source }) => msg === 'service out of reach' && source === name);
    const others = SOURCES.filter((name) => !kept(other).includes(name));
    await other.until(() => others.every(isSaid), 'the trouble of the others');
  });
});

import { execFileSync } from 'node:child_process';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { aDefinition } from '../../support/service-calls.js';
import { startPostgres } from '../../support/postgres.js';
import { ReplicaWorld } from '../../support/replica-world.js';
import { lacks } from '../../support/requirements.js';
import { seeAll, wellAfter, type Sightings } from './sightings.js';
import { FLAGS, NightWorld } from './world.js';

interface Night {
  readonly name: string;
  readonly seen: Sightings;
  readonly well: string;
}

const nights: Night[] = [];

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Writes one night down, and waits until everything is well again. */
async function note(name: string, seen: Sightings, well: Promise<number>): Promise<void> {
  nights.push({ name, seen, well: seconds(await well) });
}

/** Lets the service admit so many requests in each window, as one that limits does. */
function limiting(requests: number, windowMs: number): () => 429 | undefined {
  let [windowStart, count] = [0, 0];
  return () => {
    if (Date.now() - windowStart > windowMs) [windowStart, count] = [Date.now(), 0];
    count += 1;
    return count > requests ? 429 : undefined;
  };
}

describe('a night', () => {
  it('1: a first adoption under 20 requests in 10 seconds', async () => {
    await using world = await NightWorld.open();
    for (const name of FLAGS) {
      const { id, staging } = world.live;
      await world.live.ok('POST', `/splits/ws/${id}/trafficTypes/user`, { name });
      await world.live.ok(
        'POST',
        `/splits/ws/${id}/${name}/environments/${staging}`,
        aDefinition(),
      );
    }
    world.push(10, { names: FLAGS });
    world.service.failAtRandom(limiting(20, 10_000));
    const start = performance.now();
    const watching = await world.watch();

    const seen = await seeAll(watching, {
      log: /"msg":"progress"/,
      page: /busy/,
      readyz: /^503/,
      metric: /^flagkeel_progress_total.* [1-9]/,
      alerts: ['FlagkeelNotReady'],
    });

    const head = world.repository.git('rev-parse', 'HEAD');
    const well = watching.ran(head, 'applied').then(async () => {
      world.service.failAtRandom(() => undefined);
      await wellAfter(watching, world.hasShare(10, FLAGS));
      return performance.now() - start;
    });
    await note('1. Rate-limited adoption', seen, well);
  });

  it('2: the service is away', async () => {
    await using world = await NightWorld.open();
    const watching = await world.begin();
    world.service.failAtRandom(() => 'reset-before');
    world.push(20);

    const seen = await seeAll(watching, {
      log: /"result":"failed"/,
      page: /service/,
      readyz: /^503.*service/,
      metric: /^flagkeel_trouble\{.*what="service".* 1$/,
      alerts: ['FlagkeelNotReady', 'FlagkeelBehind'],
    });

    world.service.failAtRandom(() => undefined);
    await note('2. The service is away', seen, wellAfter(watching, world.hasShare(20)));
  });

  it('3: the git server is away', async () => {
    await using world = await NightWorld.open();
    const watching = await world.begin();
    world.push(20);
    await watching.until(world.hasShare(20), 'the writes of a run');
    world.hideOrigin();

    const seen = await seeAll(watching, {
      log: /source out of reach/,
      page: /git|remote|server/i,
      readyz: /^503.*remote/,
      metric: /^flagkeel_trouble\{.*what="remote".* 1$/,
      alerts: ['FlagkeelNotReady'],
    });

    world.showOrigin();
    world.push(30);
    await note('3. git is away', seen, wellAfter(watching, world.hasShare(30)));
  });

  it.skipIf(lacks('postgresql'))('4: the leader is lost', async () => {
    await using world = await ReplicaWorld.openTwo(2_000, ['--listen', '127.0.0.1:0']);
    const leader = await world.leader();
    const other = world.replicas.find((each) => each !== leader)?.watching;
    if (other === undefined) throw new Error('bug: there are two');
    await leader.watching.stop('SIGKILL');
    const start = performance.now();
    world.push(20);

    const seen = await seeAll(other, {
      log: /keeps the source/,
      page: /is being applied|in sync/i,
      readyz: 'stays 200',
      metric: /^flagkeel_leader\{.* 1$/,
      alerts: ['FlagkeelLeaders'],
    });

    const well = wellAfter(other, async () =>
      (await world.shares()).every((share) => share === 20),
    ).then(() => performance.now() - start);
    await note('4. The leader is lost', seen, well);
  });

  it.skipIf(lacks('postgresql'))('5: the database of the replicas is away', async () => {
    await using world = await ReplicaWorld.openTwo(2_000, ['--listen', '127.0.0.1:0']);
    const { watching } = await world.leader();
    world.line.cut();
    world.push(20);

    const seen = await seeAll(watching, {
      log: /database of the replicas out of reach/,
      page: /database/,
      readyz: /^503.*database/,
      metric: /^flagkeel_trouble\{.*what="database".* 1$/,
      alerts: ['FlagkeelNotReady', 'FlagkeelLeaders'],
    });

    world.line.mend();
    const well = wellAfter(watching, async () =>
      (await world.shares()).every((share) => share === 20),
    );
    await note('5a. The database of the replicas is away', seen, well);
  });

  it.skipIf(lacks('postgresql'))('5: the database of the service is read-only', async () => {
    const postgres = await startPostgres();
    const operator = new pg.Client({ connectionString: postgres.url });
    await operator.connect();
    try {
      await using world = await NightWorld.open({ kind: 'postgres', url: postgres.url });
      const watching = await world.begin();
      await operator.query('alter system set default_transaction_read_only = on');
      await operator.query('select pg_reload_conf()');
      world.push(20);

      const seen = await seeAll(watching, {
        log: /store is read-only|503/,
        page: /trouble|attention/,
        readyz: 'stays 200',
        metric: /^flagkeel_objects\{.*standing="(failed|unknown)".* [1-9]/,
        alerts: ['FlagkeelNotLive', 'FlagkeelRunsFail'],
      });
      const health = await fetch(`${world.service.origin}/health`);
      expect(health.status).toBe(503);
      expect(await health.json()).toMatchObject({ message: 'The store is read-only' });

      await operator.query('set default_transaction_read_only = off');
      await operator.query('alter system reset default_transaction_read_only');
      await operator.query('select pg_reload_conf()');
      await note(
        '5b. The database of the service is read-only',
        seen,
        wellAfter(watching, world.hasShare(20)),
      );
    } finally {
      await operator.end();
      await postgres.stop();
    }
  });

  it('6: the disk of the daemon is full', async () => {
    await using world = await NightWorld.open();
    const watching = await world.begin();
    const limit = (bytes: string): void => {
      execFileSync('prlimit', ['--pid', String(watching.pid), `--fsize=${bytes}`]);
    };
    limit('0:unlimited');
    world.push(20);

    const seen = await seeAll(watching, {
      log: /"level":"error"/,
      page: /^trouble/,
      readyz: /^503.*remote/,
      metric: /^flagkeel_trouble\{.*what="remote".* 1$/,
      alerts: ['FlagkeelNotReady'],
    });
    expect(await world.live.share('pay', 'staging')).toBe(10);

    limit('unlimited:unlimited');
    await note('6. The disk is full', seen, wellAfter(watching, world.hasShare(20)));
  });

  it('7: the state cannot be read', async () => {
    await using world = await NightWorld.open();
    const watching = await world.begin();
    const git = (input: string, ...args: string[]): string =>
      execFileSync('git', ['--git-dir', world.origin, ...args], { input, encoding: 'utf8' }).trim();
    const [ref = '', good = ''] = git(
      '',
      'for-each-ref',
      '--format=%(refname) %(objectname)',
      'refs/flagkeel/',
    ).split(' ');
    const blob = git('no JSON', 'hash-object', '-w', '--stdin');
    const tree = git(
      `${git('', 'ls-tree', good)}\n`.replaceAll(/blob [0-9a-f]+/g, `blob ${blob}`),
      'mktree',
    );
    const author = ['-c', 'user.name=Night', '-c', 'user.email=night@example.com'];
    git(
      '',
      'update-ref',
      ref,
      git('', ...author, 'commit-tree', tree, '-p', good, '-m', 'Break it'),
    );
    world.push(20);

    const seen = await seeAll(watching, {
      log: /cannot read the state/,
      page: /^trouble/,
      readyz: 'stays 200',
      metric: /^flagkeel_runs_total\{.*result="failed".* [1-9]/,
      alerts: ['FlagkeelRunsFail', 'FlagkeelBehind'],
    });
    expect(await world.live.share('pay', 'staging')).toBe(10);

    git('', 'update-ref', ref, good);
    await note('7. The state cannot be read', seen, wellAfter(watching, world.hasShare(20)));
  });

  it('8: a bad merge', async () => {
    await using world = await NightWorld.open();
    const watching = await world.begin();
    const bad = world.push(20, { more: { 'flags/other.yaml': 'flag: other\ntrafic: user\n' } });

    const seen = await seeAll(watching, {
      log: /unknown-field|invalid/,
      page: /error|invalid/,
      readyz: 'stays 200',
      metric: /^flagkeel_runs_total\{.*result="degraded".* [1-9]/,
      alerts: ['FlagkeelUnknown'],
    });

    world.repository.git('revert', '--no-edit', bad);
    world.repository.git('push', '--quiet', world.origin, 'HEAD:refs/heads/main');
    await note('8. A bad merge', seen, wellAfter(watching, world.hasShare(10)));
  });

  it('9: a kill that does not go', async () => {
    await using world = await NightWorld.open();
    const watching = await world.begin();
    world.refuses = (request, response) => {
      if (request.method === 'GET') return;
      response.writeHead(500).end();
    };
    world.push(10, { more: { 'kills/staging.yaml': 'kills:\n  pay: { reason: INC-1 }\n' } });

    const seen = await seeAll(watching, {
      log: /"level":"error".*kill|kill.*500/,
      page: /^trouble/,
      readyz: 'stays 200',
      metric: /^flagkeel_objects\{.*standing="(failed|unknown)".* [1-9]/,
      alerts: ['FlagkeelNotLive', 'FlagkeelRunsFail'],
    });
    const isKilled = async (): Promise<boolean> =>
      (await world.live.definition('pay', 'staging')).killed;
    expect(await isKilled()).toBe(false);

    world.refuses = undefined;
    await note('9. A kill that does not go', seen, wellAfter(watching, isKilled));
  });

  it('10: the key is lost', async () => {
    await using world = await NightWorld.open();
    const watching = await world.begin();
    const next = await world.service.createKey('next');
    world.rotateKey('fka_made_up_and_wrong');
    world.push(20);

    const seen = await seeAll(watching, {
      log: /key/,
      page: /key/,
      readyz: /^503.*key refused/,
      metric: /^flagkeel_trouble\{.*what="key-refused".* 1$/,
      alerts: ['FlagkeelNotReady'],
    });

    world.rotateKey(next);
    await note('10. The key is lost', seen, wellAfter(watching, world.hasShare(20)));
  });
});

/** The rows of the table in `docs/runbook.md`. */
afterAll(() => {
  for (const { name, seen, well } of nights) {
    const cells = (['page', 'log', 'readyz', 'metric', 'alerts'] as const).map((place) => {
      const { text, afterMs } = seen[place];
      return text.startsWith('200') ? '200' : seconds(afterMs);
    });
    process.stdout.write(`| ${[name, ...cells, well].join(' | ')} |\n`);
  }
});

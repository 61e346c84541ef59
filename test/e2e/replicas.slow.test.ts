import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StatusDocument } from '../../src/daemon/http/view-routes.js';
import { sendPushWebhook } from '../support/push-webhook.js';
import { CONFIG, holderOf, ReplicaWorld, type Replica } from '../support/replica-world.js';
import { lacks } from '../support/requirements.js';

/** Where nobody is lost, a machine that is busy must not make it look so. */
const LONG_LEASE_MS = 120_000;
/** The same where one takes over what another gave back: it looks for that four times in a lease. */
const STEADY_LEASE_MS = 12_000;

function urlOf({ watching }: Replica): string {
  return String(watching.lines.find(({ msg }) => msg === 'watching')?.['url']);
}

/**
 * Sends one request over a connection of its own. Pushes hold this process up, and a connection that was kept from an
 * earlier request, and that the other side closed meanwhile, would fail as if the replica were gone.
 */
async function send(
  { name, watching }: Replica,
  request: { method: string; url: string; body?: string },
): Promise<{ status: number; text: string }> {
  const { method, url, body } = request;
  const headers = { authorization: 'Bearer the-token', 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const failed = (cause: Error): void => {
      const state = watching.end === null ? 'is running' : `ended with ${watching.end}`;
      const message = `${name}, which ${state}, did not answer ${method} ${url}:\n${watching.tail}`;
      reject(new Error(message, { cause }));
    };
    const sent = httpRequest(url, { method, headers, agent: false }, (answer) => {
      answer.on('error', failed);
      void text(answer).then((said) => {
        resolve({ status: answer.statusCode ?? 0, text: said });
      }, failed);
    });
    sent.on('error', failed);
    sent.end(body);
  });
}

async function sourceOf(replica: Replica): Promise<StatusDocument['sources'][number]> {
  const answer = await send(replica, { method: 'GET', url: `${urlOf(replica)}/status` });
  const [source] = (JSON.parse(answer.text) as StatusDocument).sources;
  if (!source) throw new Error('the daemon has no source');
  return source;
}

async function ask(replica: Replica, path: string, body: object): Promise<number> {
  const url = urlOf(replica) + path;
  return (await send(replica, { method: 'POST', url, body: JSON.stringify(body) })).status;
}

describe.skipIf(lacks('postgresql'))(
  'a replica whose lease is lost in the middle of an apply',
  () => {
    it('sends nothing after the write under way, and says what it skipped', async () => {
      // With so long a lease it learns nothing by renewing.
      await using world = await ReplicaWorld.open(LONG_LEASE_MS);
      world.push(1);
      // One request at a time: of several that are under way all are finished.
      const { watching } = await world.start(['--concurrency', '1']);
      await world.applied(1);
      await watching.until(() => watching.runs.length > 0, 'the end of the first run');
      const { requests } = world.service;
      requests.length = 0;
      let usurping: Promise<void> | undefined;
      world.service.failAtRandom(() => {
        if (!requests.some(({ method }) => method !== 'GET')) return undefined;
        usurping ??= world.usurp();
        return 'slow';
      });

      const commit = world.push(50);
      const run = await watching.ran(commit, 'interrupted');

      await usurping;
      const writes = requests.filter(({ method }) => method !== 'GET');
      expect(writes.length).toBeGreaterThan(0);
      expect(writes.length).toBeLessThanOrEqual(2);
      expect(run.summary).toMatch(/skipped/);
    });
  },
);

describe.skipIf(lacks('postgresql'))('a webhook', () => {
  it('may come to a replica that does not keep the source', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'flagkeel-replicas-secrets-'));
    await using world = await ReplicaWorld.open(LONG_LEASE_MS);
    writeFileSync(join(folder, 'secrets'), 'the-secret');
    const told = ['--listen', '127.0.0.1:0', '--webhook-secret-file', join(folder, 'secrets')];
    world.push(1);
    await world.start([...told, '--interval', '1h']);
    await world.start([...told, '--interval', '1h']);
    await world.applied(1);
    const leader = await world.leader();
    const other = world.replicas.find((each) => each !== leader);

    const commit = world.push(50);
    const push = { commit, cloneUrl: world.origin };
    expect(await sendPushWebhook(urlOf(other ?? leader), 'the-secret', push)).toBe(202);

    const run = await leader.watching.ran(commit, 'applied');
    expect(run.triggers).toContain('webhook');
    rmSync(folder, { recursive: true, force: true });
  });
});

describe.skipIf(lacks('postgresql'))('replicas of a daemon', () => {
  let world: ReplicaWorld;
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'flagkeel-replicas-tokens-'));
    writeFileSync(join(folder, 'tokens'), 'the-token\n');
    const surface = ['--listen', '127.0.0.1:0', '--token-file', join(folder, 'tokens')];
    world = await ReplicaWorld.openTwo(STEADY_LEASE_MS, surface);
  });

  afterEach(async () => {
    await world[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Who leads and who does not, by one look: between two the lease may go from one to the other. */
  async function roles(): Promise<{ leader: Replica; other: Replica }> {
    const leader = await world.leader();
    const other = world.replicas.find((each) => each !== leader);
    if (!other) throw new Error('there is one replica');
    return { leader, other };
  }

  it('are asked at any of them, and show the runs of each other', async () => {
    const { leader, other } = await roles();
    expect(await ask(other, '/reconcile', {})).toBe(202);
    const run = await leader.watching.line(
      ({ msg, triggers }) => msg.startsWith('run ended') && triggers?.includes('request') === true,
      'a run by request',
    );

    await other.watching.until(
      async () => (await sourceOf(other)).runs.some(({ id }) => id === run.run),
      'the run in the status of the other',
    );
    expect([(await sourceOf(leader)).leader, (await sourceOf(other)).leader]).toEqual([
      true,
      false,
    ]);
    const ready = await send(other, { method: 'GET', url: `${urlOf(other)}/readyz` });
    expect(ready.status).toBe(200);
  });

  it('give back what they keep when they are stopped', async () => {
    const leader = await world.leader();

    await leader.watching.stop('SIGTERM');
    const stoppedAt = Date.now();

    const [reign] = (await world.reigns()).filter(({ holder }) => holder === holderOf(leader));
    expect(reign?.endsAt).toBeLessThanOrEqual(stoppedAt);
    world.push(40);
    await world.applied(40);
  });

  it('are held back together, and let go together', async () => {
    const { leader, other } = await roles();
    const until = new Date(Date.now() + 600_000).toISOString();
    expect(await ask(other, '/suspend', { reason: 'release', until })).toBe(202);
    await leader.watching.until(
      async () => (await sourceOf(leader)).suspended?.reason === 'release',
      'the suspension at the leader',
    );

    const commit = world.push(30);
    await leader.watching.ran(commit, 'suspended');
    expect(await world.shares()).not.toContain(30);

    expect(await ask(other, '/resume', {})).toBe(202);
    await world.applied(30);
  });

  it('go on when one of them is asked that has not heard of the suspension yet', async () => {
    const { leader, other } = await roles();
    const until = new Date(Date.now() + 600_000).toISOString();
    expect(await ask(leader, '/suspend', { reason: 'release', until })).toBe(202);
    expect((await sourceOf(leader)).suspended?.reason).toBe('release');

    expect(await ask(other, '/resume', {})).toBe(202);

    const commit = world.push(35);
    await leader.watching.ran(commit, 'applied');
    await world.applied(35);
  });

  it('hear of a suspension that one of them was asked for while the database was away', async () => {
    const { leader, other } = await roles();
    world.line.cut();
    const until = new Date(Date.now() + 600_000).toISOString();
    expect(await ask(other, '/suspend', { reason: 'outage', until })).toBe(202);
    world.line.mend();

    await leader.watching.until(
      async () => (await sourceOf(leader)).suspended?.reason === 'outage',
      'the suspension at the leader',
    );
  });

  it('show that the config suspends them, whichever of them has read it', async () => {
    const { leader, other } = await roles();
    const commit = world.push(30, { 'flagkeel.yaml': `${CONFIG}suspend: true\n` });
    await leader.watching.ran(commit, 'suspended');

    await other.watching.until(
      async () => (await sourceOf(other)).suspended?.reason.includes('flagkeel.yaml') === true,
      'the suspension of the config at the other',
    );
  });

  it('pin a commit together, and unpin it', async () => {
    const { leader, other } = await roles();
    const pinned = world.push(60);
    await world.applied(60);
    const until = new Date(Date.now() + 600_000).toISOString();
    expect(await ask(other, '/pin', { commit: pinned, reason: 'audit', until })).toBe(202);
    await leader.watching.until(
      async () => (await sourceOf(leader)).pinned?.commit === pinned,
      'the pin at the leader',
    );

    world.push(70);
    expect(await ask(other, '/reconcile', {})).toBe(202);
    await leader.watching.line(
      ({ triggers, revision, msg }) =>
        msg.startsWith('run ended') && revision === pinned && triggers?.includes('commit') === true,
      'a run of the pinned commit after the next one came',
    );
    expect(new Set(await world.shares())).toEqual(new Set([60]));

    expect(await ask(other, '/unpin', {})).toBe(202);
    await world.applied(70);
  });
});

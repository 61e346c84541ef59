import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { StatusDocument } from '../../src/daemon/http/view-routes.js';
import { makeDirectory } from '../support/git.js';
import { holderOf, ReplicaWorld, type Replica } from '../support/replica-world.js';
import { lacks } from '../support/requirements.js';
import { UNPROTECTED_CONFIG } from '../support/spec-texts.js';

/** A machine that is busy must not make it look as if one were lost; one that takes over looks four times in a lease. */
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

it.skipIf(lacks('postgresql'))(
  'replicas of a daemon are asked at any of them, are held back and let go together, show the runs of each other, and take over',
  async () => {
    const tokens = join(makeDirectory(), 'tokens');
    writeFileSync(tokens, 'the-token\n');
    const surface = ['--listen', '127.0.0.1:0', '--token-file', tokens];
    await using world = await ReplicaWorld.openTwo(STEADY_LEASE_MS, surface);
    const leader = await world.leader();
    const other = world.replicas.find((each) => each !== leader) ?? leader;
    const shows = async (
      replica: Replica,
      isTrue: (source: Awaited<ReturnType<typeof sourceOf>>) => boolean,
      what: string,
    ): Promise<unknown> =>
      replica.watching.until(async () => isTrue(await sourceOf(replica)), what);

    expect(await ask(other, '/reconcile', {})).toBe(202);
    const run = await leader.watching.line(
      ({ msg, triggers }) => msg.startsWith('run ended') && triggers?.includes('request') === true,
      'a run by request',
    );
    await shows(other, ({ runs }) => runs.some(({ id }) => id === run.run), 'the run at the other');
    const roles = [(await sourceOf(leader)).leader, (await sourceOf(other)).leader];
    expect(roles).toEqual([true, false]);
    const ready = await send(other, { method: 'GET', url: `${urlOf(other)}/readyz` });
    expect(ready.status).toBe(200);

    // While the database is away it is remembered, and told afterwards.
    world.line.cut();
    const until = new Date(Date.now() + 600_000).toISOString();
    expect(await ask(other, '/suspend', { reason: 'outage', until })).toBe(202);
    world.line.mend();
    const keeper = await world.leader();
    await shows(keeper, ({ suspended }) => suspended?.reason === 'outage', 'the suspension');
    const held = world.push(30);
    await keeper.watching.ran(held, 'suspended');
    expect(await world.shares()).not.toContain(30);
    expect(await ask(other, '/resume', {})).toBe(202);
    await world.applied(30);

    const commit = world.push(35, { 'flagkeel.yaml': `${UNPROTECTED_CONFIG}suspend: true\n` });
    await keeper.watching.ran(commit, 'suspended');
    for (const each of world.replicas) {
      const isByConfig = 'the suspension of the config';
      await shows(each, ({ suspended }) => suspended?.reason.includes('yaml') === true, isByConfig);
    }

    await keeper.watching.stop('SIGTERM');
    const stoppedAt = Date.now();
    const reigns = (await world.reigns()).filter(({ holder }) => holder === holderOf(keeper));
    expect(reigns.at(-1)?.endsAt).toBeLessThanOrEqual(stoppedAt);
    world.push(40);
    await world.applied(40);
  },
);

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import Fastify from 'fastify';
import { addApplications } from '../src/sdk/applications.js';
import { startService } from '../src/service/service.js';
import { API_PREFIX } from '../src/admin-api/wire.js';

/** 200 applications that poll an environment of 1,000 flags without a pause, beside a bare server with the same answer. */
const FLAGS = 1_000;
const CLIENTS = 200;
const SECONDS = 8;
const MB = 1_048_576;

interface Started {
  readonly origin: string;
  readonly key: string;
  readonly till: number;
}

async function serve(): Promise<Started> {
  const environments = [{ name: 'staging' }];
  const workspaces = [{ name: 'Default', environments, trafficTypes: ['user'] }];
  const service = await startService({
    store: { kind: 'memory' },
    seed: { workspaces },
    applications: addApplications,
  });
  const admin = await service.createKey('bench');
  const post = async (path: string, body: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json' };
    const options = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await fetch(`${service.origin}${API_PREFIX}${path}`, options)).json();
  };
  const all = [{ treatment: 'off', size: 100 }];
  const content = { treatments: [{ name: 'on' }, { name: 'off' }], defaultTreatment: 'off' };
  for (let index = 0; index < FLAGS; index += 1) {
    await post('/splits/ws/Default/trafficTypes/user', { name: `flag-${index}` });
    const path = `/splits/ws/Default/flag-${index}/environments/staging`;
    await post(path, { ...content, defaultRule: all });
  }
  const key = await service.createKey('app', {
    apiKeyType: 'server_side',
    environments: ['staging'],
  });
  const asked = await fetch(`${service.origin}/sdk/splitChanges?s=1.3&since=-1`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { ff } = (await asked.json()) as { ff: { t: number } };
  return { origin: service.origin, key, till: ff.t };
}

async function serveBare(): Promise<Started> {
  const app = Fastify();
  const answer = '{"ff":{"d":[],"s":1,"t":1},"rbs":{"d":[],"s":-1,"t":-1}}';
  app.get('/sdk/splitChanges', async (_, reply) => reply.type('application/json').send(answer));
  return { origin: await app.listen({ port: 0 }), key: 'none', till: 1 };
}

async function poll(url: string, key: string, agent: Agent): Promise<void> {
  const asked = request(url, { agent, headers: { authorization: `Bearer ${key}` } });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
}

/** Requests per second. */
async function load({ origin, key }: Started, since: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const end = performance.now() + SECONDS * 1_000;
  let count = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      await poll(`${origin}/sdk/splitChanges?s=1.3&since=${since}&rbSince=-1`, key, agent);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  agent.destroy();
  return Math.round(count / SECONDS);
}

async function measured(kind: 'bare' | 'service'): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), [kind]);
  const [started] = (await once(child, 'message')) as [Started];
  const unchanged = await load(started, started.till);
  const whole = kind === 'bare' ? null : await load(started, -1);
  child.send('memory');
  const [bytes] = (await once(child, 'message')) as [number];
  child.kill();
  const all = whole === null ? '' : `, ${whole}/s with all ${FLAGS} flags`;
  process.stdout.write(
    `${kind}: ${unchanged}/s where nothing changed${all}; ${Math.round(bytes / MB)} MB resident\n`,
  );
}

const [kind] = process.argv.slice(2);
if (kind === undefined) {
  await measured('bare');
  await measured('service');
} else {
  const started = await (kind === 'bare' ? serveBare() : serve());
  process.on('message', () => process.send?.(process.memoryUsage.rss()));
  process.send?.(started);
}

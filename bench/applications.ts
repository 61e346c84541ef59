import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Fastify from 'fastify';
import { addApplications } from '../src/sdk/applications.js';
import { startService } from '../src/service/service.js';
import { API_PREFIX } from '../src/admin-api/wire.js';
import { median } from './client/measure.js';

/**
 * 200 applications that poll an environment of 1,000 flags without a pause, beside a bare server with the same answers.
 * Both run from the beginning and take turns, so that other work on the machine slows both; the medians count. `--rounds`
 * says how many turns.
 */
const FLAGS = 1_000;
const CLIENTS = 200;
const SECONDS = 4;
const MB = 1_048_576;

interface Started {
  readonly origin: string;
  readonly key: string;
  readonly till: number;
}

/** Of a server: resident bytes, and microseconds of processor time since its start. */
interface Used {
  readonly bytes: number;
  readonly cpu: number;
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

/** @param all the answer to an application that knows nothing yet. */
async function serveBare(all: string): Promise<Started> {
  const app = Fastify();
  const unchanged = '{"ff":{"d":[],"s":1,"t":1},"rbs":{"d":[],"s":-1,"t":-1}}';
  app.get<{ Querystring: { since: string } }>('/sdk/splitChanges', async ({ query }, reply) =>
    reply.type('application/json; charset=utf-8').send(query.since === '-1' ? all : unchanged),
  );
  return { origin: await app.listen({ port: 0 }), key: 'none', till: 1 };
}

async function poll(url: string, key: string, agent: Agent): Promise<void> {
  const asked = request(url, { agent, headers: { authorization: `Bearer ${key}` } });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
}

interface Load {
  readonly perSecond: number;
  /** Microseconds of the server's processor time for a request. */
  readonly cpu: number;
}

async function load({ origin, key, used }: Server, since: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const before = await used();
  const begun = performance.now();
  const end = begun + SECONDS * 1_000;
  let count = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      await poll(urlOf(origin, since), key, agent);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const seconds = (performance.now() - begun) / 1_000;
  agent.destroy();
  const { cpu } = await used();
  return { perSecond: count / seconds, cpu: (cpu - before.cpu) / count };
}

const urlOf = (origin: string, since: number): string =>
  `${origin}/sdk/splitChanges?s=1.3&since=${since}&rbSince=-1`;

interface Server extends Started {
  readonly used: () => Promise<Used>;
  readonly stop: () => void;
}

async function start(kind: 'bare' | 'service', all = ''): Promise<Server> {
  const child = fork(fileURLToPath(import.meta.url), ['--kind', kind]);
  child.send(all);
  const [started] = (await once(child, 'message')) as [Started];
  return {
    ...started,
    used: async () => {
      child.send('used');
      const [used] = (await once(child, 'message')) as [Used];
      return used;
    },
    stop: () => child.kill(),
  };
}

function line(what: string, loads: readonly Load[], floor?: readonly Load[]): void {
  const perSecond = median(loads.map((each) => each.perSecond));
  const cpu = median(loads.map((each) => each.cpu));
  const of = (measure: keyof Load): string =>
    median(loads.map((each, at) => each[measure] / (floor?.[at]?.[measure] ?? 1))).toFixed(2);
  const ratio = floor ? `; ${of('perSecond')} of the floor, ${of('cpu')} times its processor` : '';
  const figures = `${Math.round(perSecond)}/s, ${Math.round(cpu)} µs of processor each`;
  process.stdout.write(`${what}: ${figures}${ratio}\n`);
}

async function measure(rounds: number): Promise<void> {
  const service = await start('service');
  const headers = { authorization: `Bearer ${service.key}` };
  const all = await (await fetch(urlOf(service.origin, -1), { headers })).text();
  const bare = await start('bare', all);
  const floor: Load[] = [];
  const own: Load[] = [];
  const wholeFloor: Load[] = [];
  const whole: Load[] = [];
  for (let round = 0; round < rounds; round += 1) {
    floor.push(await load(bare, bare.till));
    own.push(await load(service, service.till));
    wholeFloor.push(await load(bare, -1));
    whole.push(await load(service, -1));
  }
  line('nothing changed, bare', floor);
  line('nothing changed, service', own, floor);
  line(`all ${FLAGS} flags (${Math.round(all.length / 1_000)} kB), bare`, wholeFloor);
  line(`all ${FLAGS} flags, service`, whole, wholeFloor);
  for (const [name, server] of Object.entries({ bare, service })) {
    const { bytes } = await server.used();
    process.stdout.write(`${name}: ${Math.round(bytes / MB)} MB resident\n`);
    server.stop();
  }
}

const { values: options } = parseArgs({
  options: { kind: { type: 'string' }, rounds: { type: 'string', default: '3' } },
});
if (options.kind === undefined) await measure(Number(options.rounds));
else {
  const [all] = (await once(process, 'message')) as [string];
  const started = await (options.kind === 'bare' ? serveBare(all) : serve());
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ bytes: process.memoryUsage.rss(), cpu: user + system } satisfies Used);
  });
  process.send?.(started);
}

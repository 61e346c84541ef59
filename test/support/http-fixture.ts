import { afterEach } from 'vitest';
import { AdminClient } from '../../src/admin-api/http/admin-client.js';
import { HttpAdminReader } from '../../src/admin-api/reader.js';
import { HttpAdminWriter } from '../../src/admin-api/writer.js';
import { startScripted, type Reply, type ScriptedServer, type Script } from './http.js';
import { JumpingTime } from './http-time.js';

interface HttpFixture {
  readonly server: ScriptedServer;
  readonly reader: HttpAdminReader;
  readonly writer: HttpAdminWriter;
}

const closers: (() => Promise<void>)[] = [];

/** A reader and a writer over real HTTP to a scripted server; closed after each test of the file. */
export async function httpFixture(script: Script): Promise<HttpFixture> {
  const server = await startScripted(script);
  const client = new AdminClient({
    url: server.url,
    key: () => 'fka_test',
    version: '0.0.0',
    time: new JumpingTime(),
  });
  closers.push(async () => client.close(), server.close);
  const reader = new HttpAdminReader(client.reads());
  return { server, reader, writer: new HttpAdminWriter(client, reader) };
}

export function closeAfterEach(): void {
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });
}

/** The page of a list that a request asks for. */
export function pageOf(objects: readonly unknown[], url: string, maxLimit = 50): Reply {
  const query = new URL(url, 'http://x').searchParams;
  const offset = Number(query.get('offset') ?? '0');
  const limit = Math.min(maxLimit, Number(query.get('limit') ?? '20'));
  const body = { objects: objects.slice(offset, offset + limit), offset, limit };
  return { status: 200, body: { ...body, totalCount: objects.length } };
}

export const ENVIRONMENTS = [
  { id: 'e-1', name: 'staging', production: false },
  { id: 'e-2', name: 'production', production: true },
];

export function wireDefinition(name: string, extra: object = {}): Record<string, unknown> {
  return {
    id: `id-${name}`,
    name,
    environment: { id: 'e-1', name: 'staging' },
    trafficType: { id: 't-1', name: 'user' },
    killed: false,
    treatments: [{ name: 'on', description: '' }, { name: 'off' }],
    defaultTreatment: 'off',
    baselineTreatment: 'off',
    trafficAllocation: 100,
    rules: [],
    defaultRule: [{ treatment: 'off', size: 100 }],
    creationTime: 1,
    lastUpdateTime: 1,
    ...extra,
  };
}

export function wireSegment(name: string, extra: object = {}): Record<string, unknown> {
  const trafficType = { id: 't-1', name: 'user' };
  return { name, description: '', trafficType, creationTime: 1, tags: null, ...extra };
}

export function wireFlag(name: string, extra: object = {}): Record<string, unknown> {
  return {
    ...wireSegment(name),
    id: `id-${name}`,
    rolloutStatus: { id: 'r-1', name: 'Pre-Production' },
    rolloutStatusTimestamp: 1,
    ...extra,
  };
}

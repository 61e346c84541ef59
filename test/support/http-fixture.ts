import { afterEach } from 'vitest';
import { AdminClient, type AdminClientOptions } from '../../src/admin-api/http/admin-client.js';
import { HttpAdminReader } from '../../src/admin-api/reader.js';
import { HttpAdminWriter } from '../../src/admin-api/writer.js';
import { liveDefinition } from './builders.js';
import { startScripted, type Reply, type ScriptedServer, type Script } from './http.js';
import { JumpingTime } from './http-time.js';

interface HttpFixture {
  readonly server: ScriptedServer;
  readonly time: JumpingTime;
  readonly client: AdminClient;
  readonly reader: HttpAdminReader;
  readonly writer: HttpAdminWriter;
}

const closers: (() => Promise<void>)[] = [];

/** A client, a reader and a writer over real HTTP to a scripted server; closed after each test of the file. */
export async function httpFixture(
  script: Script,
  options: Partial<AdminClientOptions> = {},
): Promise<HttpFixture> {
  const server = await scripted(script);
  const time = new JumpingTime();
  const client = new AdminClient({
    ...{ url: server.url, key: () => 'fka_test', version: '0.0.0', time },
    ...options,
  });
  closers.unshift(async () => client.close());
  const reader = new HttpAdminReader(client.reads());
  return { server, time, client, reader, writer: new HttpAdminWriter(client, reader) };
}

/** A scripted server by itself, closed like those of `httpFixture`. */
export async function scripted(script: Script): Promise<ScriptedServer> {
  const server = await startScripted(script);
  closers.push(server.close);
  return server;
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

export { ENVIRONMENTS, wireFlag, wireSegment } from './builders.js';

export function wireDefinition(name: string, extra: object = {}): Record<string, unknown> {
  return { ...liveDefinition(name, 'staging'), ...extra };
}

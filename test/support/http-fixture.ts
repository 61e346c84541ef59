import { afterEach } from 'vitest';
import { AdminClient } from '../../src/admin-api/http/admin-client.js';
import { HttpAdminReader } from '../../src/admin-api/reader.js';
import { HttpAdminWriter } from '../../src/admin-api/writer.js';
import { liveDefinition } from './builders.js';
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

export { ENVIRONMENTS, wireFlag, wireSegment } from './builders.js';

export function wireDefinition(name: string, extra: object = {}): Record<string, unknown> {
  return { ...liveDefinition(name, 'staging'), ...extra };
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  parseListen,
  readOperations,
  type OperationsRequest,
} from '../../../src/compose/operations.js';
import { operatorSettings } from '../../../src/compose/settings.js';
import { Metrics } from '../../../src/daemon/metrics/metrics.js';
import { createLog } from '../../../src/platform/log.js';
import { aRun, aSource, appliedReport, DaemonInMemory } from '../../support/daemon-view.js';
import { makeDirectory } from '../../support/git.js';
import { startScripted } from '../../support/http.js';
import { aChange, aReport } from '../../support/plan-builder.js';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function open(flags: Partial<OperationsRequest>, daemon = new DaemonInMemory(aSource())) {
  const log = createLog({ level: 'silent', format: 'json', stream: { write: () => undefined } });
  const around = { metrics: new Metrics(), log };
  const openOperations = await readOperations({ notify: [], allowHost: [], ...flags });
  const operations = await openOperations(daemon, around);
  closing.push(operations.close);
  return operations;
}

function fileOf(text: string): string {
  const file = join(makeDirectory(), 'file');
  writeFileSync(file, text);
  return file;
}

const PLAIN = 'plain=https://hooks.example.com/';

describe('where the daemon listens', () => {
  it.each([
    ['8080', { port: 8080 }],
    ['0.0.0.0:8080', { host: '0.0.0.0', port: 8080 }],
    ['[::1]:0', { host: '::1', port: 0 }],
    ['flags.internal:80', { host: 'flags.internal', port: 80 }],
  ])('is read from %s', (text, at) => {
    expect(parseListen(text)).toEqual(at);
  });

  it.each(['', 'here', ':8080', '70000', '::1:8080', 'http://here:80', '80 80'])(
    'is not %j',
    (text) => {
      expect(() => parseListen(text)).toThrow(expect.objectContaining({ code: 'USAGE' }) as Error);
    },
  );
});

describe('names of a proxy before the daemon', () => {
  it.each([
    ['without --listen', { allowHost: ['flags.example.com'] }],
    ['where it listens beyond loopback', { allowHost: ['a.example'], listen: '0.0.0.0:0' }],
    ['with a port', { allowHost: ['a.example:8080'], listen: '0' }],
    ['with a scheme', { allowHost: ['https://a.example'], listen: '0' }],
  ])('are refused %s', async (_, flags) => {
    await expect(open(flags)).rejects.toMatchObject({ code: 'USAGE' });
  });

  it('are taken where it listens on loopback', async () => {
    const { url } = await open({ allowHost: ['flags.example.com'], listen: 'localhost:0' });

    expect(url).not.toBeNull();
  });
});

it('the header of the key is what the operator says, and nothing that there is not', () => {
  const of = (name: string) => operatorSettings({ FLAGKEEL_AUTH_HEADER: name }).authHeader;

  expect([of('X-Api-Key'), of('')]).toEqual(['x-api-key', undefined]);
  expect(() => of('cookie')).toThrow(expect.objectContaining({ code: 'USAGE' }));
});

describe('the surface of the daemon', () => {
  it('is served where the command line says so', async () => {
    const { url } = await open({ listen: '127.0.0.1:0' });

    expect((await fetch(`${String(url)}/readyz`)).status).toBe(200);
  });

  it('sends its messages also where it does not listen, to all that were named', async () => {
    const server = await startScripted(() => ({ status: 200 }));
    closing.push(server.close);
    const daemon = new DaemonInMemory(aSource());
    const notifyFile = fileOf(`slack=${server.url}/second\n\n`);

    const { url, close } = await open({ notify: [`${server.url}/first`], notifyFile }, daemon);
    daemon.end(aRun(appliedReport(aReport({ changes: [aChange('flag/a', 'update')] }))));
    await close();

    expect(url).toBeNull();
    expect(server.lines().sort()).toEqual(['POST /first', 'POST /second']);
  });

  it('is refused with a template that names what no message has', async () => {
    const notifyTemplate = fileOf('{event} in {sauce}\n');

    await expect(open({ notify: [PLAIN], notifyTemplate })).rejects.toThrow('{sauce}');
  });

  it.each<[string, Partial<OperationsRequest>]>([
    ['tokens without a port', { tokenFile: '/some/file' }],
    ['a page that is private without tokens', { listen: '127.0.0.1:0', private: true }],
    ['secrets of webhooks without a port', { webhookSecretFile: '/some/file' }],
    ['an address that is none', { notify: ['here'] }],
    ['a file that is not there', { notifyFile: '/nowhere/at/all' }],
    ['a template that is not there', { notify: [PLAIN], notifyTemplate: '/nowhere/at/all' }],
    ['a template for nobody', { notifyTemplate: import.meta.filename }],
  ])('is refused with %s, and nothing is open then', async (_, flags) => {
    const daemon = new DaemonInMemory(aSource());

    await expect(open(flags, daemon)).rejects.toMatchObject({ code: 'USAGE' });
    expect(daemon.listeners).toBe(0);
  });
});

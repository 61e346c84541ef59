import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

/** A PostgreSQL server of its own, on loopback, that keeps nothing. */
export interface TestPostgres {
  /** Of a fresh, empty database. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

const ROOT = '/usr/lib/postgresql';

/** Undefined: no PostgreSQL is installed here. */
export function postgresBinaries(): string | undefined {
  const versions = existsSync(ROOT) ? readdirSync(ROOT).sort() : [];
  return versions.map((version) => join(ROOT, version, 'bin')).findLast((bin) => existsSync(bin));
}

export async function startPostgres(binaries: string): Promise<TestPostgres> {
  const directory = mkdtempSync(join(tmpdir(), 'service-postgres-'));
  const asOwner = await ownerOf(directory);
  const port = await freePort();
  await asOwner(join(binaries, 'initdb'), [
    ...['-D', directory, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8'],
    // Another order of text than by bytes, so that nothing rests on the server's own.
    ...['--no-sync', '--locale=C.UTF-8', '--lc-collate=C.UTF-8'],
  ]);
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${directory} -c fsync=off`;
  const control = join(binaries, 'pg_ctl');
  await asOwner(control, [
    '-D',
    directory,
    '-w',
    '-l',
    join(directory, 'log'),
    '-o',
    options,
    'start',
  ]);
  const server = `postgres://postgres@127.0.0.1:${port}`;
  return {
    createDatabase: async () => createDatabase(server),
    stop: async () => {
      await asOwner(control, ['-D', directory, '-m', 'immediate', 'stop']);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Makes an empty database on a server; `server` is a URL without a database. */
export async function createDatabase(server: string): Promise<string> {
  const name = `service_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({ connectionString: `${server}/postgres` });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return `${server}/${name}`;
}

/** PostgreSQL refuses to run as root: then the account that its package makes runs it. */
async function ownerOf(
  directory: string,
): Promise<(command: string, parameters: readonly string[]) => Promise<unknown>> {
  if (process.getuid?.() !== 0) return async (command, parameters) => run(command, parameters);
  const { stdout: uid } = await run('id', ['-u', 'postgres']);
  const { stdout: gid } = await run('id', ['-g', 'postgres']);
  chownSync(directory, Number(uid), Number(gid));
  chmodSync(directory, 0o700);
  return async (command, parameters) =>
    run(command, parameters, { uid: Number(uid), gid: Number(gid), cwd: directory });
}

async function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => {
        resolve(port);
      });
    });
  });
}

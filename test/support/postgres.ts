import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from './loopback.js';
import { findProgram } from './requirements.js';

export interface TestPostgres {
  /** Of a superuser in an empty database; no password. */
  readonly url: string;
  readonly port: number;
  /** Holds everything that the server writes. */
  readonly directory: string;
  /** @returns the URL of a fresh, empty database. */
  readonly createDatabase: () => Promise<string>;
  /** Ends the server as a crash would. @returns starts it again, on the same port and data. */
  readonly crash: () => Promise<() => Promise<void>>;
  /** Ends the server, connections included, and removes the directory. May be called twice. */
  readonly stop: () => Promise<void>;
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Another process may take the free port before the server does. */
const TRIES = 3;

/**
 * A PostgreSQL server for one test file, or for a project of them: about a second to start, nothing of it survives `stop`. Ask
 * `lacks('postgresql')` first.
 */
export async function startPostgres(): Promise<TestPostgres> {
  const initdb = findProgram('postgresql');
  if (initdb === null) throw new Error('bug: startPostgres without asking whether it is installed');
  const directory = mkdtempSync(join(tmpdir(), 'flagkeel-pg-'));
  const owner = serverOwner();
  if (owner) chownSync(directory, owner.uid, owner.gid);
  const data = join(directory, 'data');
  const how = { cwd: directory, env: { PATH: process.env['PATH'], LC_ALL: 'C' }, ...owner };
  try {
    const args = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
    await promisify(execFile)(initdb, [...args, '--no-sync'], how);
    const program = join(dirname(initdb), 'postgres');
    const started = await startOnFreePort(program, data, how);
    const { port } = started;
    let { server } = started;
    const atExit = (): void => {
      server.kill('SIGQUIT');
    };
    process.once('exit', atExit);
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    return {
      url,
      port,
      directory,
      createDatabase: async () => createDatabase(url),
      crash: async () => {
        await stopServer(server, 'SIGQUIT');
        return async () => {
          const again = await startOn(port, program, data, how);
          if (typeof again === 'string') throw new Error(`cannot start PostgreSQL again: ${again}`);
          server = again;
        };
      },
      stop: async () => {
        process.off('exit', atExit);
        await stopServer(server);
        rmSync(directory, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

/**
 * An empty database on a server that runs already. Where the server can, text has another order there than by bytes,
 * so that nothing comes to rest on the order that is the server's own.
 *
 * @param server URL of a superuser, in any database.
 * @returns the URL of the new one.
 */
export async function createDatabase(server: string): Promise<string> {
  return newDatabase(server, async (client) => {
    const { rows } = await client.query<{ can: boolean }>(
      "select current_setting('server_version_num')::int >= 150000 as can",
    );
    return `template0 ${rows[0]?.can === true ? "locale_provider icu icu_locale 'en-US'" : ''}`;
  });
}

/**
 * A copy of a database that has no connections.
 *
 * @returns the URL of the copy, on the same server.
 */
export async function copyDatabase(original: string): Promise<string> {
  const server = new URL(original);
  const name = server.pathname.slice(1);
  server.pathname = '/postgres';
  return newDatabase(server.href, async () => Promise.resolve(name));
}

async function newDatabase(
  server: string,
  templateOf: (client: Client) => Promise<string>,
): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(`create database ${name} template ${await templateOf(client)}`);
  } finally {
    await client.end();
  }
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** The server refuses to run as root. Debian's package brings a user for it. */
function serverOwner(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const ask = (what: string): number =>
    Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8' }));
  return { uid: ask('-u'), gid: ask('-g') };
}

interface HowToStart {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly gid?: number;
}

async function startOnFreePort(
  program: string,
  data: string,
  how: HowToStart,
): Promise<{ server: ChildProcess; port: number }> {
  let said = '';
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const port = await freePort();
    const server = await startOn(port, program, data, how);
    if (typeof server !== 'string') return { server, port };
    said = server;
  }
  throw new Error(`cannot start PostgreSQL: ${said}`);
}

/** The server, or what it said before it ended. */
async function startOn(
  port: number,
  program: string,
  data: string,
  how: HowToStart,
): Promise<ChildProcess | string> {
  const settings = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${dirname(data)}`,
    'shared_buffers=32MB',
    // Nothing of it outlives its tests, nobody reads it from a second server, and no table lives until it is tidied up.
    'fsync=off',
    'full_page_writes=off',
    'wal_level=minimal',
    'max_wal_senders=0',
    'autovacuum=off',
  ].flatMap((setting) => ['-c', setting]);
  const server = spawn(program, ['-D', data, '-p', String(port), ...settings], {
    ...how,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const answer = await readiness(server);
  return answer === 'ready' ? server : answer;
}

/** `ready`, or what the server said before it ended. */
async function readiness(server: ChildProcess): Promise<string> {
  const { stderr } = server;
  if (!stderr) throw new Error('bug: the server was started without a pipe');
  const said: string[] = [];
  return new Promise((resolve, reject) => {
    // Read to the end, so that a full pipe never holds the server up.
    createInterface({ input: stderr }).on('line', (line) => {
      if (line.includes('ready to accept connections')) resolve('ready');
      said.push(line);
    });
    server.once('error', reject);
    server.once('close', () => {
      resolve(said.join('\n'));
    });
  });
}

/** @param signal default: its "fast" shutdown, which ends connections and does not wait for them. */
async function stopServer(server: ChildProcess, signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  await new Promise((resolve) => {
    server.once('close', resolve);
    server.kill(signal);
  });
}

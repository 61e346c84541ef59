import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort, listen, type Listening } from './loopback.js';
import { until } from './patience.js';
import { findProgram } from './requirements.js';

/** What a server does instead of answering; see `HttpGitServer.fault`. */
type GitFault = 503 | 'reset' | 'hang';

/** A bare repository that a server offers, at `<root>/flags.git`. */
export function makeServedRepository(root: string): string {
  const path = join(root, 'flags.git');
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', path]);
  execFileSync('git', ['config', 'http.receivepack', 'true'], { cwd: path });
  return path;
}

/** A real git server over HTTP on loopback: `git http-backend` behind basic auth, with faults on request. */
export class HttpGitServer {
  readonly root = mkdtempSync(join(tmpdir(), 'flagkeel-git-http-'));
  readonly repository = makeServedRepository(this.root);
  readonly token = 'made-up-token';
  /** The name that goes with the token. */
  user = 'x-access-token';
  /** Holds for every request until it is set to null again. */
  fault: GitFault | null = null;
  /** Requests that came, faulty ones included. */
  requests = 0;
  /** What requests had in `Authorization`, each value once. */
  readonly authorizations = new Set<string>();
  #listening: Listening | undefined;

  static async start(): Promise<HttpGitServer> {
    const server = new HttpGitServer();
    server.#listening = await listen(
      createServer((request, response) => {
        server.#answer(request, response);
      }),
    );
    return server;
  }

  get url(): string {
    return `${this.#listening?.url ?? ''}/flags.git`;
  }

  async stop(): Promise<void> {
    await this.#listening?.close();
    rmSync(this.root, { recursive: true, force: true });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.requests += 1;
    const { authorization } = request.headers;
    if (authorization !== undefined) this.authorizations.add(authorization);
    if (this.fault === 'hang') return;
    if (this.fault === 'reset') {
      request.socket.destroy();
      return;
    }
    const wanted = `Basic ${Buffer.from(`${this.user}:${this.token}`).toString('base64')}`;
    const status = this.fault ?? (request.headers.authorization === wanted ? null : 401);
    if (status !== null) {
      response.writeHead(status, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    this.#backend(request, response);
  }

  #backend(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'http://git');
    const { headers } = request;
    const child = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: this.root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
        REMOTE_USER: 'tester',
        REQUEST_METHOD: request.method,
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        CONTENT_TYPE: headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
        ...(headers['content-length'] !== undefined && {
          CONTENT_LENGTH: headers['content-length'],
        }),
      },
    });
    request.pipe(child.stdin);
    child.stdin.on('error', () => undefined);
    let head = Buffer.alloc(0);
    let isBody = false;
    child.stdout.on('data', (chunk: Buffer) => {
      if (isBody) {
        response.write(chunk);
        return;
      }
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) return;
      isBody = true;
      writeCgiHead(response, head.toString('latin1', 0, end));
      response.write(head.subarray(end + 4));
    });
    child.once('close', () => response.end());
  }
}

function writeCgiHead(response: ServerResponse, head: string): void {
  let status = 200;
  for (const line of head.split('\r\n')) {
    const [, name = '', value = ''] = /^([^:]+): *(.*)$/.exec(line) ?? [];
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
    else if (name !== '') response.setHeader(name, value);
  }
  response.writeHead(status);
}

/** A real git server over ssh on loopback, for the one key that it made. */
export class SshGitServer {
  readonly root = mkdtempSync(join(tmpdir(), 'flagkeel-git-ssh-'));
  readonly repository = makeServedRepository(this.root);
  readonly keyFile = join(this.root, 'client_key');
  readonly knownHostsFile = join(this.root, 'known hosts');
  readonly #child: ChildProcess;
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
    for (const name of ['client_key', 'host_key']) {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(this.root, name)]);
    }
    writeFileSync(join(this.root, 'authorized'), readFileSync(`${this.keyFile}.pub`));
    const hostKey = readFileSync(join(this.root, 'host_key.pub'), 'utf8');
    writeFileSync(this.knownHostsFile, `[127.0.0.1]:${String(port)} ${hostKey}`);
    writeFileSync(
      join(this.root, 'sshd_config'),
      [
        `Port ${String(port)}`,
        'ListenAddress 127.0.0.1',
        `HostKey ${join(this.root, 'host_key')}`,
        `AuthorizedKeysFile ${join(this.root, 'authorized')}`,
        `PidFile ${join(this.root, 'pid')}`,
        'StrictModes no',
        'UsePAM no',
        'PasswordAuthentication no',
        'PermitRootLogin prohibit-password',
      ].join('\n'),
    );
    chmodSync(this.root, 0o755);
    // What privilege separation wants, where this runs as root.
    if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true });
    const sshd = findProgram('sshd') ?? 'sshd';
    this.#child = spawn(sshd, ['-D', '-e', '-f', join(this.root, 'sshd_config')], {
      stdio: 'ignore',
    });
  }

  static async start(): Promise<SshGitServer> {
    const server = new SshGitServer(await freePort());
    await until(
      async () => answers(server.#port),
      () => 'sshd to listen',
      10_000,
    );
    return server;
  }

  get url(): string {
    const user = userInfo().username;
    return `ssh://${user}@127.0.0.1:${String(this.#port)}${this.repository}`;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.kill();
    await ended;
    rmSync(this.root, { recursive: true, force: true });
  }
}

async function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}

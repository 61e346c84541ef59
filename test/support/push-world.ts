import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigRepository } from './git.js';
import { CountedGit } from './counted-git.js';
import { HttpGitServer, SshGitServer } from './git-server.js';
import { liveWorkspace, type LiveWorkspace } from './live-workspace.js';
import { sendPushWebhook } from './push-webhook.js';
import { startTestService, type TestService } from './service.js';
import { flagText } from './spec-texts.js';
import { Watching } from './watching.js';

const FLAGS = 20;
const SECRET = 'made-up-secret';

/** How often the daemon fetches. */
export interface Rhythm {
  readonly intervalMs: number;
  readonly jitterMs: number;
}

/** A built daemon that follows a branch of a real git server, with twenty flags that it has applied. */
export class PushWorld implements AsyncDisposable {
  readonly git: CountedGit;
  readonly daemon: Watching;
  readonly #parts: Parts;

  private constructor(parts: Parts, rhythm: Rhythm | null) {
    this.#parts = parts;
    const { folder, server, service } = parts;
    writeFileSync(join(folder, 'secrets'), SECRET);
    this.git = new CountedGit(join(folder, 'bin'));
    this.daemon = new Watching(
      [
        ...['--repo', server.url, '--branch', 'main', '--url', service.origin],
        ...['--listen', '127.0.0.1:0', '--webhook-secret-file', join(folder, 'secrets')],
        ...['--interval', rhythm ? `${rhythm.intervalMs}ms` : '1h'],
        ...['--jitter', rhythm ? `${rhythm.jitterMs}ms` : '0ms', '--schedule', 'off'],
      ],
      {
        ...credentials(server, folder),
        PATH: this.git.path,
        FLAGKEEL_API_KEY: service.key,
        FLAGKEEL_STATE_DIR: join(folder, 'state.git'),
      },
      folder,
    );
  }

  /** @param rhythm null: it fetches when it is told. */
  static async open(kind: 'http' | 'ssh', rhythm: Rhythm | null): Promise<PushWorld> {
    const service = await startTestService();
    const live = await liveWorkspace(service);
    const server = kind === 'http' ? await HttpGitServer.start() : await SshGitServer.start();
    const repository = new ConfigRepository();
    repository.write({ 'flagkeel.yaml': 'workspace: Default\nenvironments:\n  staging: {}\n' });
    for (let i = 1; i < FLAGS; i += 1)
      repository.write({ [`flags/flag-${i}.yaml`]: flagText(`flag-${i}`, 1, { staging: '' }) });
    const folder = mkdtempSync(join(tmpdir(), 'flagkeel-pushes-'));
    const parts = { service, live, server, repository, folder };
    const first = pushPercent(parts, 1);
    const world = new PushWorld(parts, rhythm);
    await world.daemon.ran(first, 'applied');
    return world;
  }

  /** Brings another share of the first flag to the server, by the back door. @returns the commit. */
  push(percent: number): string {
    return pushPercent(this.#parts, percent);
  }

  /** Tells the daemon, as a forge would. @returns the status of the answer. */
  async tell(commit: string): Promise<number> {
    const { url } = await this.daemon.line(({ msg }) => msg === 'watching');
    const cloneUrl = this.#parts.server.url;
    return sendPushWebhook(String(url), SECRET, { commit, cloneUrl });
  }

  /** What the service has. */
  async percent(): Promise<number | undefined> {
    const { live } = this.#parts;
    const path = `/splits/ws/${live.id}/flag-0/environments/${live.staging}`;
    const { body } = await live.call('GET', path);
    return (body as { defaultRule?: { size: number }[] }).defaultRule?.[0]?.size;
  }

  /** HTTP requests that the git server was sent; 0 of one that speaks ssh. */
  get requests(): number {
    const { server } = this.#parts;
    return 'requests' in server ? server.requests : 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { service, server, repository, folder } = this.#parts;
    await this.daemon.stop('SIGKILL');
    await service.stop();
    await server.stop();
    repository[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Parts {
  readonly service: TestService;
  readonly live: LiveWorkspace;
  readonly server: HttpGitServer | SshGitServer;
  readonly repository: ConfigRepository;
  readonly folder: string;
}

function pushPercent({ repository, server }: Parts, percent: number): string {
  repository.write({ 'flags/flag-0.yaml': flagText('flag-0', percent, { staging: '' }) });
  const commit = repository.commit(`Ramp to ${percent}`);
  repository.git('push', '--quiet', server.repository, 'HEAD:refs/heads/main');
  return commit;
}

function credentials(
  server: HttpGitServer | SshGitServer,
  folder: string,
): Readonly<Record<string, string>> {
  if ('keyFile' in server) {
    const { keyFile, knownHostsFile } = server;
    return {
      FLAGKEEL_GIT_SSH_KEY_FILE: keyFile,
      FLAGKEEL_GIT_KNOWN_HOSTS_FILE: knownHostsFile,
    };
  }
  writeFileSync(join(folder, 'token'), server.token);
  return { FLAGKEEL_GIT_TOKEN_FILE: join(folder, 'token') };
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CountedGit } from './counted-git.js';
import { FollowedBranch, partsOf, type ServiceParts } from './followed-branch.js';
import { HttpGitServer, SshGitServer } from './git-server.js';
import { sendPushWebhook } from './push-webhook.js';
import { startTestService } from './service.js';
import { flagText, STAGING_CONFIG } from './spec-texts.js';
import type { Watching } from './watching.js';

const FLAGS = 20;
const SECRET = 'made-up-secret';

/** How often the daemon fetches. */
export interface Rhythm {
  readonly intervalMs: number;
  readonly jitterMs: number;
}

type GitServer = HttpGitServer | SshGitServer;

/** A built daemon that follows a branch of a real git server, with twenty flags that it has applied. */
export class PushWorld extends FollowedBranch {
  readonly git: CountedGit;
  readonly daemon: Watching;
  readonly #server: GitServer;

  private constructor(parts: ServiceParts, server: GitServer, rhythm: Rhythm | null) {
    super(parts, server);
    this.#server = server;
    writeFileSync(join(this.root, 'secrets'), SECRET);
    this.git = new CountedGit(join(this.root, 'bin'));
    this.daemon = this.follow(
      [
        ...['--listen', '127.0.0.1:0', '--webhook-secret-file', join(this.root, 'secrets')],
        ...['--interval', rhythm ? `${rhythm.intervalMs}ms` : '1h'],
        ...['--jitter', rhythm ? `${rhythm.jitterMs}ms` : '0ms'],
      ],
      {
        ...credentials(server, this.root),
        PATH: this.git.path,
        FLAGKEEL_API_KEY: parts.service.key,
        FLAGKEEL_STATE_DIR: join(this.root, 'state.git'),
      },
    );
  }

  /** @param rhythm null: it fetches when it is told. */
  static async open(kind: 'http' | 'ssh', rhythm: Rhythm | null): Promise<PushWorld> {
    const server = kind === 'http' ? await HttpGitServer.start() : await SshGitServer.start();
    const world = new PushWorld(await partsOf(await startTestService()), server, rhythm);
    world.repository.write({ 'flagkeel.yaml': STAGING_CONFIG });
    for (let i = 1; i < FLAGS; i += 1) {
      const name = `flag-${i}`;
      world.repository.write({ [`flags/${name}.yaml`]: flagText(name, 1, { staging: '' }) });
    }
    await world.daemon.ran(world.push(1), 'applied');
    return world;
  }

  /** Brings another share of the first flag to the server. @returns the commit. */
  push(percent: number): string {
    const text = flagText('flag-0', percent, { staging: '' });
    return this.pushFiles(`Ramp to ${percent}`, { 'flags/flag-0.yaml': text });
  }

  /** Tells the daemon, as a forge would. @returns the status of the answer. */
  async tell(commit: string): Promise<number> {
    const { url } = await this.daemon.line(({ msg }) => msg === 'watching');
    return sendPushWebhook(String(url), SECRET, { commit, cloneUrl: this.origin });
  }

  /** What the service has. */
  async percent(): Promise<number> {
    return this.live.share('flag-0', 'staging');
  }

  /** HTTP requests that the git server was sent; 0 of one that speaks ssh. */
  get requests(): number {
    return 'requests' in this.#server ? this.#server.requests : 0;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.#server.stop();
  }
}

function credentials(server: GitServer, folder: string): Readonly<Record<string, string>> {
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

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigRepository, type Files } from './git.js';
import { liveWorkspace, type LiveWorkspace } from './live-workspace.js';
import { patiently } from './patience.js';
import type { TestService } from './service.js';
import { Watching } from './watching.js';

/** A repository on a git server. */
interface Remote {
  readonly url: string;
  /** Its directory: what a world pushes goes there by the back door. */
  readonly repository: string;
}

/** Often enough for a test that waits. */
const QUICK = ['--interval', '200ms', '--jitter', '50ms', '--debounce', '20ms'];

/** A service, and the branch `main` of a repository that built daemons follow. All of it ends with the world. */
export class FollowedBranch implements AsyncDisposable {
  readonly service: TestService;
  readonly live: LiveWorkspace;
  readonly repository = new ConfigRepository();
  /** Holds what the daemons keep. */
  readonly root = mkdtempSync(join(tmpdir(), 'flagkeel-followed-'));
  readonly #remote: Remote;
  readonly #daemons: Watching[] = [];

  /** @param remote default: a bare repository on this machine. */
  constructor({ service, live }: ServiceParts, remote?: Remote) {
    this.service = service;
    this.live = live;
    this.#remote = remote ?? this.#bareRepository();
  }

  #bareRepository(): Remote {
    const path = join(this.root, 'flags.git');
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', path]);
    return { url: path, repository: path };
  }

  /** Of the branch's repository. */
  get origin(): string {
    return this.#remote.url;
  }

  /** Commits these files, and makes the branch what is committed. @returns the commit. */
  pushFiles(message: string, files: Files = {}): string {
    const commit = this.repository.commit(message, files);
    this.repository.git(
      'push',
      '--quiet',
      '--force',
      this.#remote.repository,
      'HEAD:refs/heads/main',
    );
    return commit;
  }

  /**
   * Starts a daemon.
   *
   * @param args further ones, or others in the place of the usual.
   * @param where what it follows; default: the branch.
   */
  follow(
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    where: readonly string[] = ['--repo', this.origin, '--branch', 'main'],
  ): Watching {
    const usual = [...QUICK, '--schedule', 'off', '--url', this.service.origin];
    const daemon = new Watching([...usual, ...where, ...args], env, this.root);
    this.#daemons.push(daemon);
    return daemon;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const daemon of this.#daemons) {
      daemon.signal('SIGCONT');
      await daemon.stop('SIGKILL');
    }
    await this.service.stop();
    this.repository[Symbol.dispose]();
    // Programs that git leaves behind may still write there.
    await patiently(() => {
      rmSync(this.root, { recursive: true, force: true });
    });
  }
}

export interface ServiceParts {
  readonly service: TestService;
  readonly live: LiveWorkspace;
}

export async function partsOf(service: TestService): Promise<ServiceParts> {
  return { service, live: await liveWorkspace(service) };
}

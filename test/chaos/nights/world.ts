import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreLocation } from '../../../src/service/store/store.js';
import { ConfigRepository } from '../../support/git.js';
import { liveWorkspace, type LiveWorkspace } from '../../support/live-workspace.js';
import { startTestService, type TestService } from '../../support/service.js';
import { flagText, STAGING_CONFIG } from '../../support/spec-texts.js';
import { Watching } from '../../support/watching.js';

export const FLAGS = Array.from({ length: 20 }, (_, index) => `flag-${index}`);

/** One built daemon that follows a branch, with a service, a key in a file and a state on the git server. */
export class NightWorld implements AsyncDisposable {
  readonly service: TestService;
  readonly live: LiveWorkspace;
  readonly repository = new ConfigRepository();
  readonly #root = mkdtempSync(join(tmpdir(), 'flagkeel-nights-'));
  readonly origin = join(this.#root, 'flags.git');
  /** Answers a request itself, and says so; otherwise the service does. */
  refuses: RequestListener | undefined;
  #watching: Watching | undefined;

  private constructor(service: TestService, live: LiveWorkspace) {
    this.service = service;
    this.live = live;
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', this.origin]);
    this.rotateKey(service.key);
  }

  static async open(store: StoreLocation = { kind: 'memory' }): Promise<NightWorld> {
    const holder: { world?: NightWorld } = {};
    const service = await startTestService({
      store,
      middleware: (next) => (request, response) => {
        const listener = holder.world?.refuses ?? next;
        listener(request, response);
        if (listener !== next && !response.writableEnded) next(request, response);
      },
    });
    const world = new NightWorld(service, await liveWorkspace(service));
    holder.world = world;
    return world;
  }

  /** Resolves once the daemon listens. */
  async watch(): Promise<Watching> {
    const quick = ['--interval', '300ms', '--jitter', '50ms', '--debounce', '50ms'];
    const where = ['--repo', this.origin, '--branch', 'main', '--url', this.service.origin];
    this.#watching = new Watching(
      [...quick, '--schedule', 'off', '--timeout', '1s', '--listen', '127.0.0.1:0', ...where],
      {
        FLAGKEEL_API_KEY_FILE: join(this.#root, 'key'),
        FLAGKEEL_STATE_DIR: join(this.#root, 'state.git'),
      },
      this.#root,
    );
    await this.#watching.line(({ msg }) => msg === 'watching', 'the start');
    return this.#watching;
  }

  /** Gives the flags this share in staging; `more` are further files, `names` the flags. */
  push(
    percent: number,
    {
      names = ['pay'],
      more = {},
    }: { names?: readonly string[]; more?: Record<string, string> } = {},
  ): string {
    const files = names.map((name): [string, string] => [
      `flags/${name}.yaml`,
      flagText(name, percent, { staging: '' }),
    ]);
    this.repository.write({
      'flagkeel.yaml': STAGING_CONFIG,
      ...Object.fromEntries(files),
      ...more,
    });
    const commit = this.repository.commit(`Ramp to ${percent}`);
    this.repository.git('push', '--quiet', this.origin, 'HEAD:refs/heads/main');
    return commit;
  }

  /** A daemon that has applied a first commit. */
  async begin(): Promise<Watching> {
    const first = this.push(10);
    const watching = await this.watch();
    await watching.ran(first, 'applied');
    return watching;
  }

  hasShare(percent: number, names: readonly string[] = ['pay']): () => Promise<boolean> {
    return async () => {
      for (const name of names)
        if ((await this.live.share(name, 'staging')) !== percent) return false;
      return true;
    };
  }

  rotateKey(key: string): void {
    writeFileSync(join(this.#root, 'key'), key);
  }

  /** The git server goes away, and comes back with what was pushed meanwhile. */
  hideOrigin(): void {
    renameSync(this.origin, `${this.origin}.away`);
  }

  showOrigin(): void {
    renameSync(`${this.origin}.away`, this.origin);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watching?.stop('SIGKILL');
    await this.service.stop();
    this.repository[Symbol.dispose]();
    rmSync(this.#root, { recursive: true, force: true });
  }
}

import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startOperations, type Operations } from '../../../src/daemon/http/operations.js';
import { jsonBody } from '../../../src/daemon/notify/formats.js';
import { MessageMemory, type Message } from '../../../src/daemon/notify/message.js';
import { runStatus } from '../../../src/daemon/statuses/commit-statuses.js';
import type { RunRecord } from '../../../src/daemon/view.js';
import { createLog } from '../../../src/platform/log.js';
import { ConfigRepository } from '../git.js';
import { InProcessDaemon } from '../in-process-daemon.js';
import { readRawState, type RawState } from '../stories/raw-state.js';
import { failOthers, type StoryService, type StoryWorkspace } from '../stories/service.js';
import { cliRun } from '../terminal.js';
import type { MovedTime } from './clock.js';
import {
  ACTS,
  committed,
  COMMITS,
  HAND_EDITS,
  OUTAGES,
  wordsOf,
  type History,
  type Step,
} from './events.js';
import { LawMemory, mustNotWait, type Truth } from './law.js';
import { readOrders } from './orders.js';
import { filesOf, FLAGS, type Said } from './specs.js';
import {
  breachesOfAway,
  breachesOfDocument,
  breachesOfMessages,
  breachesOfRun,
  breachesOfShown,
  shownBy,
  type MessageSaid,
  type RunSaid,
} from './surfaces.js';
import { onOff } from '../on-off.js';

const HOUR_MS = 3_600_000;
const FORMATS = ['json', 'text', 'markdown'] as const;

export interface World {
  readonly service: StoryService;
  readonly time: MovedTime;
}

export interface Told {
  readonly history: History;
  readonly looks: number;
  readonly lines: readonly string[];
  readonly breaches: readonly string[];
}

/** Plays a history to its end, or to the first step after which a surface says what is not so. */
export async function play(history: History, world: World): Promise<Told> {
  using repository = new ConfigRepository();
  const workspace = await world.service.workspace();
  const played = new Play(history, world, { repository, workspace });
  try {
    await played.begin();
    for (const step of history.steps) {
      if (played.breaches.length > 0) break;
      await played.happen(step);
    }
    const { looks, lines, breaches } = played;
    return { history, looks, lines, breaches };
  } finally {
    await played.end();
  }
}

class Play {
  readonly lines: string[] = [];
  readonly breaches: string[] = [];
  looks = 0;
  readonly #world: World;
  readonly #repository: ConfigRepository;
  readonly #workspace: StoryWorkspace;
  readonly #memory = new LawMemory();
  readonly #messages = new MessageMemory();
  readonly #sent: Message[] = [];
  readonly #clones = mkdtempSync(join(tmpdir(), 'flagkeel-law-'));
  #said: Said;
  #files: ReadonlyMap<string, string> = new Map();
  #watched: InProcessDaemon | null = null;
  #operations: Operations | null = null;
  #hasClone = false;
  #isAway = false;
  #isRefused = false;
  /** Whether anything but the daemon wrote to the service since the daemon looked at everything. */
  #isUnseen = false;
  /** Whether a message was sent since nothing was open. A look at what a commit touched sends messages as well. */
  #isTold = false;

  constructor(
    { said }: History,
    world: World,
    { repository, workspace }: { repository: ConfigRepository; workspace: StoryWorkspace },
  ) {
    this.#world = world;
    this.#repository = repository;
    this.#workspace = workspace;
    this.#said = { ...structuredClone(said), workspace: workspace.name };
  }

  async begin(): Promise<void> {
    this.#commit('Begin');
    await this.#startDaemon();
  }

  async end(): Promise<void> {
    this.#refuse(undefined);
    await this.#operations?.close();
    await this.#watched?.daemon.stop('SIGTERM');
    rmSync(this.#clones, { recursive: true, force: true });
  }

  async happen(step: Step): Promise<void> {
    const { kind, hours } = step;
    this.lines.push(wordsOf(step));
    for (let hour = 0; hour < hours; hour += 1) await this.#anHour();
    if (this.breaches.length > 0) return;
    if (isIn(OUTAGES, kind)) {
      await this.#outage(kind, step);
      return;
    }
    if (isIn(COMMITS, kind)) {
      this.#said = committed(this.#said, step, Date.now());
      this.#commit(kind);
    } else if (isIn(HAND_EDITS, kind)) await this.#byHand(kind, step);
    else if (isIn(ACTS, kind)) await this.#act(kind, step);
    await this.#look(step);
  }

  /** Time passes for the daemon, which polls and confirms meanwhile. */
  async #anHour(): Promise<void> {
    const runs = this.#watched?.runs.length;
    this.#world.time.move(HOUR_MS);
    await this.#settled();
    if (this.#watched?.runs.length !== runs && !this.#isAway) await this.#judgeDaemon();
  }

  async #settled(): Promise<void> {
    const watched = this.#watched;
    if (watched === null) return;
    // The loops of polls and of confirmations.
    await this.#world.time.asleep(2, HOUR_MS);
    while (!['idle', 'backing-off'].includes(watched.view.phase)) await pause(1);
  }

  #commit(subject: string): void {
    const files = filesOf(this.#said);
    for (const path of this.#files.keys()) if (!files.has(path)) this.#repository.remove(path);
    this.#files = files;
    this.#memory.ramped(this.#said.flags.f2?.staging?.rampFrom ? ['flag/f2@staging'] : []);
    this.#repository.commit(subject, Object.fromEntries(files));
  }

  async #startDaemon(): Promise<void> {
    const { service, time } = this.#world;
    const { origin, key } = service;
    const watched = new InProcessDaemon(
      this.#repository.directory,
      { origin, key },
      { intervalMs: HOUR_MS, debounceMs: 0, run: { url: origin, environment: [], lockTimeout: 0 } },
      { time },
    );
    this.#watched = watched;
    watched.daemon.events.on('end', (source, run) => {
      this.#sent.push(...this.#messages.messagesFor(source, run));
    });
    const log = createLog({ level: 'error', format: 'json', stream: { write: () => undefined } });
    this.#operations = await startOperations(watched.daemon, {
      port: 0,
      log,
      now: Date.now,
    });
    watched.daemon.start();
    await this.#rest(1);
    await this.#judgeDaemon();
  }

  async #rest(runs: number): Promise<void> {
    const watched = this.#watched;
    if (watched === null) throw new Error('bug: no daemon');
    await watched.rest(runs);
    await this.#settled();
  }

  async #truth(): Promise<Truth> {
    const raw = await this.#raw();
    return this.#memory.truth(readOrders(this.#files, Date.now(), this.#memory.reached), raw);
  }

  async #raw(): Promise<RawState> {
    return readRawState(this.#workspace, { flags: FLAGS, segments: [] }, this.#workspace.ask);
  }

  async #look({ look, number }: Step): Promise<void> {
    if (look === 'daemon') await this.#lookOfDaemon();
    else await this.#lookOfCommand(look, number);
  }

  async #lookOfDaemon(): Promise<void> {
    const watched = this.#watched;
    const before = watched?.runs.length ?? 0;
    this.#sent.length = 0;
    watched?.daemon.trigger(null, 'request');
    await this.#rest(before + 1);
    await this.#judgeDaemon();
  }

  async #judgeDaemon(): Promise<void> {
    this.looks += 1;
    const truth = await this.#truth();
    const run = this.#watched?.runs.at(-1);
    if (!run) throw new Error('bug: no run');
    const shown = await shownBy(this.#operations?.url ?? '');
    const isFull = run.plan?.observed !== 'touched';
    if (isFull) this.#isUnseen = false;
    this.#isTold ||= this.#sent.length > 0;
    if (this.#said.isMissing) {
      const exit = run.exitCode === 6 ? [] : [`daemon: exit ${run.exitCode}, and not 6`];
      this.#found([...exit, ...breachesOfAway(shown, false)], 'daemon');
      return;
    }
    // A run that looks at what a commit touched speaks of nothing else.
    if (isFull) {
      const { exitCode, text: stdout } = run;
      const said: RunSaid = { exitCode, isDry: false, format: 'text', stdout };
      this.#found(breachesOfRun(said, truth, this.#said.isBroken ? 3 : null), 'daemon, run');
      this.#found(breachesOfDocument(run.plan ?? {}, truth), 'daemon, plan');
      this.#found(this.#breachesOfNews(run, truth), 'daemon');
    }
    if (!this.#isUnseen) this.#found(breachesOfShown(shown, truth), 'daemon');
    if (run.plan !== null) this.#memory.remember(truth);
  }

  #breachesOfNews(run: RunRecord, truth: Truth): string[] {
    const found: string[] = [];
    const standings = this.#watched?.view.standings ?? null;
    const places = [null, ...truth.orders.environments];
    for (const place of places) {
      const open = mustNotWait(truth, place);
      const { state, description } = runStatus({ standings }, run, place);
      if (state === 'success' && open.length > 0)
        found.push(`the status of ${place ?? 'the whole'}: ${description}, but ${open.join()}`);
    }
    const isOpen = mustNotWait(truth).length > 0;
    const bodies = this.#sent.map((message) => jsonBody(message) as unknown as MessageSaid);
    found.push(...breachesOfMessages(bodies, truth));
    if (isOpen && !this.#isTold) found.push('no message');
    if (!isOpen) this.#isTold = false;
    return found;
  }

  async #lookOfCommand(look: 'command' | 'clone', number: number): Promise<void> {
    const directory = look === 'command' ? this.#repository.directory : this.#clone();
    const format = FORMATS[number % FORMATS.length] ?? 'json';
    const other = FORMATS[(number + 1) % FORMATS.length] ?? 'json';
    await this.#run(directory, 'reconcile', format);
    const next = number % 2 === 0 ? 'plan' : 'reconcile';
    if (this.breaches.length === 0) await this.#run(directory, next, other);
  }

  async #run(directory: string, command: 'reconcile' | 'plan', format: RunSaid['format']) {
    this.looks += 1;
    this.#isUnseen = true;
    const { origin, key } = this.#world.service;
    const { exitCode, stdout, stderr } = await cliRun(
      [command, directory, '--url', origin, '--format', format],
      { FLAGKEEL_API_KEY: key },
    );
    const truth = await this.#truth();
    const isDry = command === 'plan';
    const expected = this.#expected();
    const found = breachesOfRun({ exitCode, isDry, format, stdout }, truth, expected);
    if (found.length > 0) this.lines.push(stderr);
    this.#found(found, `${command} ${format}`);
    if (!isDry && expected === null) this.#memory.remember(truth);
  }

  #expected(): number | null {
    if (this.#said.isBroken) return 3;
    return this.#said.isMissing || this.#isRefused ? 6 : null;
  }

  #clone(): string {
    const clone = join(this.#clones, 'clone');
    const git = (...args: string[]): void => {
      execFileSync('git', args, { stdio: 'ignore' });
    };
    if (this.#hasClone) git('-C', clone, 'pull', '--quiet');
    else git('clone', '--quiet', this.#repository.directory, clone);
    this.#hasClone = true;
    return clone;
  }

  async #outage(kind: (typeof OUTAGES)[number], { look, number }: Step): Promise<void> {
    const { directory } = this.#repository;
    const elsewhere = `${directory}-away`;
    this.#isAway = true;
    if (kind === 'checkout-away') renameSync(directory, elsewhere);
    else this.#refuse(kind === 'away' ? 302 : 401);
    try {
      if (look !== 'daemon' && kind !== 'checkout-away')
        await this.#lookOfCommand('command', number);
      const isLong = number % 2 === 0;
      for (let hour = 0; hour < (isLong ? 4 : 1); hour += 1) await this.#anHour();
      this.looks += 1;
      const shown = await shownBy(this.#operations?.url ?? '');
      this.#found(breachesOfAway(shown, isLong), `daemon, ${kind}`);
    } finally {
      this.#refuse(undefined);
      if (kind === 'checkout-away') renameSync(elsewhere, directory);
    }
    await this.#anHour();
    this.#isAway = false;
    if (this.breaches.length === 0) await this.#lookOfDaemon();
  }

  async #byHand(kind: (typeof HAND_EDITS)[number], step: Step): Promise<void> {
    const { workspaceId, environments } = this.#workspace;
    const { flag, number } = step;
    this.#isUnseen = true;
    const environment = this.#placeOf(kind, step);
    const whole = `/splits/ws/${workspaceId}/${flag}`;
    const path = `${whole}/environments/${environments.get(environment) ?? ''}`;
    const patch = async (field: string, value: unknown): Promise<unknown> =>
      this.#workspace.byHand('PATCH', path, [{ op: 'replace', path: field, value }]);
    if (kind === 'hand-share') await patch('/defaultRule', onOff(number));
    else if (kind === 'hand-allocate') await patch('/trafficAllocation', number + 1);
    else if (kind === 'hand-kill') await patch('/killed', true);
    else if (kind === 'hand-restore') await patch('/killed', false);
    else await this.#workspace.byHand('DELETE', path);
  }

  /** A ramp waits while its flag is killed, and goes on from there; these histories leave that out. */
  #placeOf(kind: string, { flag, environment }: Step): string {
    const isKill = kind.includes('kill') || kind.includes('restore') || kind.includes('delete');
    return flag === 'f2' && isKill ? 'production' : environment;
  }

  async #act(kind: (typeof ACTS)[number], step: Step): Promise<void> {
    const { origin, key } = this.#world.service;
    this.#isUnseen = true;
    const name = kind === 'act-kill' ? 'kill' : 'restore';
    const place = ['--environment', this.#placeOf(kind, step), '--reason', 'INC-2'];
    await cliRun([name, step.flag, this.#repository.directory, ...place, '--url', origin], {
      FLAGKEEL_API_KEY: key,
    });
    this.#repository.git('checkout', '--quiet', '--', '.');
    this.#repository.git('clean', '--quiet', '--force', '-d');
  }

  /** What the program asks. A gateway that sends everyone elsewhere is not tried again, which saves waiting. */
  #refuse(status: 401 | 302 | undefined): void {
    this.#isRefused = status !== undefined;
    failOthers(this.#world.service, () => status);
  }

  #found(breaches: readonly string[], where: string): void {
    this.breaches.push(...breaches.map((each) => `${where}: ${each}`));
  }
}

function isIn<T extends string>(kinds: readonly T[], kind: string): kind is T {
  return (kinds as readonly string[]).includes(kind);
}

/** A history in words, with what was wrong after its last step. */
export function textOf({ history, lines, breaches }: Told): string {
  const { onDrift, onConflict, prune, environments, hasWindow } = history.said;
  const said = `onDrift ${onDrift}, onConflict ${onConflict}, prune ${String(prune)}, window ${String(hasWindow)}, ${environments.join()}`;
  return [
    `FLAGKEEL_LAW_SEED=${String(history.seed)} FLAGKEEL_LAW_RUNS=1`,
    said,
    ...lines.map((line, index) => `${String(index + 1)}. ${line}`),
    ...breaches.map((each) => `!! ${each}`),
  ].join('\n');
}

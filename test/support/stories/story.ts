import { ConfigRepository } from '../git.js';
import { cliRun } from '../terminal.js';
import { committed, environmentOf, pick, withoutConfigurations } from './commits.js';
import {
  ACTS,
  COMMITS,
  RUNS,
  eventsOf,
  type ActKind,
  type CommitKind,
  type Event,
  type RunKind,
} from './events.js';
import { editByHand, liveFlags } from './hand-edits.js';
import { breachesOf, isUnseen, type Document, type Ran } from './laws.js';
import { StoryMemory, type Rules } from './memory.js';
import { readRawState, type RawState } from './raw-state.js';
import { BY_HAND, type StoryService, type StoryWorkspace } from './service.js';
import {
  filesOf,
  firstSpecs,
  FLAGS,
  SEGMENTS,
  type EnvironmentName,
  type Members,
  type Specs,
} from './specs.js';
import { readWritten, type Written } from './written.js';

export interface Story {
  readonly seed: number;
  readonly events: readonly Event[];
}

/** What became of a story. */
export interface Told {
  readonly seed: number;
  readonly runs: number;
  /** What happened, line by line. */
  readonly lines: readonly string[];
  /** Must be empty. The story ends with the first event that has any. */
  readonly breaches: readonly string[];
}

export function storyOf(seed: number): Story {
  return { seed, events: eventsOf(seed) };
}

/** Plays a story in a git repository and a workspace of its own, and looks at every run of it. */
export async function tell({ seed, events }: Story, service: StoryService): Promise<Told> {
  using repository = new ConfigRepository();
  const workspace = await service.workspace();
  const play = new Play({ seed, repository, service, workspace });
  await play.begin();
  for (const event of events) {
    if (play.breaches.length > 0) break;
    await play.happen(event);
  }
  if (play.breaches.length === 0) await play.end();
  return { seed, runs: play.runs, lines: play.lines, breaches: play.breaches };
}

interface PlayParts {
  readonly seed: number;
  readonly repository: ConfigRepository;
  readonly service: StoryService;
  readonly workspace: StoryWorkspace;
}

/** A story as it is played: commits into a repository, acts on a service, and runs between them. */
export class Play {
  readonly lines: string[] = [];
  readonly breaches: string[] = [];
  runs = 0;
  protected readonly repository: ConfigRepository;
  protected readonly service: StoryService;
  protected readonly workspace: StoryWorkspace;
  protected readonly memory: StoryMemory;
  protected readonly commits: Specs[] = [];
  protected readonly past: RawState[] = [];
  #files: ReadonlySet<string> = new Set();
  /** Words of kills of what was killed already: they are sent, and a service records nothing where nothing changes. */
  readonly #killedAgain = new Set<string>();
  /** Ids of what a run killed by order of git though it was killed already: the same holds of its `/killed`. */
  readonly #orderedAgain = new Set<string>();
  /** What is there, unless somebody has changed it since the last look. */
  protected seen: RawState | undefined;
  /** What the specs say, but for the file that is wrong. */
  protected written: Written;

  constructor({ seed, repository, service, workspace }: PlayParts) {
    this.repository = repository;
    this.service = service;
    this.workspace = workspace;
    const first = firstSpecs(workspace.name, seed);
    if (service.kind === 'strict') withoutConfigurations(first);
    this.written = readWritten(filesOf(first));
    this.memory = new StoryMemory(rulesOf(first.config), first.config['prune'] === true);
    this.commits.push(first);
  }

  protected get now(): Specs {
    const last = this.commits.at(-1);
    if (!last) throw new Error('bug: a story without a commit');
    return last;
  }

  async begin(): Promise<void> {
    this.#write();
    this.repository.commit('Begin the story');
    await this.run('full', 0);
  }

  /** In the end everything is run once more; then there is nothing left to write, and all that was is told. */
  async end(): Promise<void> {
    if (this.now.isBroken) this.commit('break', [0, 0, 0]);
    await this.run('full', 0);
    const again = await this.run('dry run', 0);
    const isDone = again?.changes.every(({ id }) => isUnseen(id, again)) ?? true;
    if (again && !again.error && !isDone) {
      this.breaches.push(`a second run would write ${again.changes.map(({ id }) => id).join()}`);
    }
    await this.compareHistory();
  }

  async happen({ kind, numbers, runs }: Event): Promise<void> {
    this.lines.push(`${kind} ${numbers.map((each) => each.toFixed(2)).join(' ')}`);
    if (isIn(COMMITS, kind)) this.commit(kind, numbers);
    else if (isIn(ACTS, kind)) await this.act(kind, numbers);
    else {
      this.seen = undefined;
      const place = { workspace: this.workspace, past: this.past };
      await editByHand(kind, numbers, place);
    }
    for (const run of runs) await this.run(run, numbers[0]);
  }

  protected commit(kind: CommitKind, numbers: Event['numbers']): void {
    const next = committed(kind, numbers, this.now, this.commits.slice(0, -1));
    if (this.service.kind === 'strict') withoutConfigurations(next);
    this.commits.push(next);
    this.#write();
    // Kills are read also where another file is wrong.
    this.written = readWritten(filesOf({ ...next, isBroken: false }));
    const at = this.commits.length;
    this.repository.commit(`Commit ${at}: ${kind}\n\nWhy: ☂ ${at}`);
  }

  #write(): void {
    const files = filesOf(this.now);
    for (const path of this.#files) if (!files.has(path)) this.repository.remove(path);
    this.repository.write(Object.fromEntries(files));
    this.#files = new Set(files.keys());
  }

  protected async act(kind: ActKind, [which, where, what]: Event['numbers']): Promise<void> {
    this.seen = undefined;
    const flag = pick(liveFlags(this.past), which) ?? '';
    const environment = environmentOf(where);
    const reason = `INC-${Math.floor(what * 9)}`;
    const id = `flag/${flag}@${environment}`;
    const isKilled = (await this.look()).get(id)?.get('/killed') === true;
    if (kind === 'act-kill' && isKilled) {
      this.#killedAgain.add(
        wordsOf({ id, title: `Kill ${flag} in ${environment}`, comment: reason }),
      );
    }
    const { directory } = this.repository;
    const name = kind === 'act-kill' ? 'kill' : 'restore';
    const words = ['--environment', environment, '--reason', reason, '--url', this.service.origin];
    await this.#cli([name, flag, directory, ...words]);
    // What it prepares in the working tree nobody commits.
    this.repository.git('checkout', '--quiet', '--', '.');
    this.repository.git('clean', '--quiet', '--force', '-d');
  }

  async #cli(args: readonly string[]): ReturnType<typeof cliRun> {
    return cliRun(args, { FLAGKEEL_API_KEY: this.service.key });
  }

  protected async run(kind: RunKind, chance: number): Promise<Document | null> {
    const objects = [...this.written.objects.keys()].filter((id) => !id.includes('@'));
    const only = kind === 'only' ? (pick(objects, chance) ?? null) : null;
    const args = [...RUNS[kind], ...(only === null ? [] : ['--only', only])];
    const ran = await this.#runOnce(kind, only, args);
    if (ran.exitCode !== 4 || ran.isDry || !ran.document) return ran.document;
    // Somebody has looked at the plan, and lets it pass.
    const approved = await this.#runOnce(kind, only, [...args, '--approve', ran.document.planHash]);
    return approved.document;
  }

  async #runOnce(kind: RunKind, only: string | null, args: readonly string[]): Promise<Ran> {
    const known = (await this.workspace.recorded()).length;
    const before = this.seen ?? (await this.look());
    const { directory } = this.repository;
    const place = ['--format', 'json', '--url', this.service.origin];
    const { exitCode, stdout, stderr } = await this.#cli([
      'reconcile',
      directory,
      ...args,
      ...place,
    ]);
    const all = await this.workspace.recorded();
    const after = all.length === known ? before : await this.look();
    this.seen = after;
    const ran: Ran = {
      kind,
      isDry: args.includes('--dry-run'),
      only,
      exitCode,
      document: stdout === '' ? null : (JSON.parse(stdout) as Document),
      stderr,
      before,
      after,
      recorded: all.slice(0, all.length - known),
      head: this.commits.length,
      isBroken: this.now.isBroken,
      written: this.written,
    };
    for (const { id, reason } of ran.document?.changes ?? []) {
      const wasKilled = before.get(id)?.get('/killed') === true;
      if (reason === 'kill' && wasKilled) this.#orderedAgain.add(id);
    }
    this.runs += 1;
    this.past.push(before, after);
    this.lines.push(lineOf(ran, args));
    this.breaches.push(...breachesOf(ran), ...this.memory.look(ran));
    return ran;
  }

  protected async look(): Promise<RawState> {
    const names = { flags: FLAGS, segments: SEGMENTS };
    return readRawState(this.workspace, names, this.workspace.ask);
  }

  /** Everything that the service recorded and nobody did by hand is in the history, and the other way round. */
  protected async compareHistory(): Promise<void> {
    const place = ['--format', 'json', '--url', this.service.origin];
    const { stdout } = await this.#cli(['history', this.repository.directory, ...place]);
    const { applies } = JSON.parse(stdout) as { applies: Apply[] };
    const told = applies.flatMap(({ changes }) => changes.filter(isToldWrite));
    const sent = (await this.workspace.recorded())
      .filter(
        ({ kind, title }) => kind !== 'workspace' && kind !== 'environment' && title !== BY_HAND,
      )
      .filter(({ kind }) => kind !== 'traffic-type')
      .map(({ kind, name, environment, title, comment }) => {
        const id = `${kind}/${name}${environment === null ? '' : `@${environment}`}`;
        return JSON.stringify([id, title, comment]);
      });
    const words = new Set(told.map(wordsOf));
    const missing = [...new Set(sent)].filter((each) => !words.has(each));
    // What failed may have been made, and may not.
    const made = new Set(told.filter(({ outcome }) => outcome === 'applied').map(wordsOf));
    const again = told.filter(
      ({ id, fields }) =>
        this.#orderedAgain.has(id) && fields?.every(({ path }) => path === '/killed') === true,
    );
    const excused = new Set([...this.#killedAgain, ...again.map(wordsOf)]);
    const invented = [...made].filter((each) => !sent.includes(each) && !excused.has(each));
    this.breaches.push(
      ...missing.map((each) => `written, and not in the history: ${each}`),
      ...invented.map((each) => `in the history, and not written: ${each}`),
    );
  }
}

/** A story with what was wrong in it, and what repeats it. */
export function textOf({ seed, lines, breaches }: Told): string {
  const wrong = breaches.map((each) => `!! ${each}`);
  return [`FLAGKEEL_LAW_SEED=${seed} FLAGKEEL_LAW_RUNS=1`, ...lines, ...wrong].join('\n');
}

/** What a run said, in a line. */
export function lineOf({ document, exitCode }: Ran, args: readonly string[]): string {
  const { error, changes = [], withheld = [], liveKills = [] } = document ?? {};
  const parts = [
    ...changes.map(({ id, reason, outcome = '' }) => `${outcome} ${id} ${reason}`),
    ...withheld.map(({ id, why }) => `withheld ${id} ${why}`),
    ...liveKills.map(({ id }) => `live kill ${id}`),
    ...(error ? [error.message] : []),
  ];
  return `  run ${args.join(' ')} → ${exitCode}: ${parts.join('; ')}`;
}

interface Apply {
  readonly changes: readonly ToldChange[];
}

interface ToldChange {
  readonly id: string;
  readonly title: string;
  readonly outcome: string;
  readonly comment?: string;
  readonly fields?: readonly { readonly path: string }[];
}

function isToldWrite({ comment }: ToldChange): boolean {
  return comment !== undefined;
}

function wordsOf({ id, title, comment }: Pick<ToldChange, 'id' | 'title' | 'comment'>): string {
  return JSON.stringify([id, title, comment]);
}

function isIn<T extends string>(kinds: readonly T[], kind: string): kind is T {
  return (kinds as readonly string[]).includes(kind);
}

/** What the config says of each environment, and of all of them together. */
function rulesOf(config: Members): (environment: EnvironmentName | null) => Rules {
  const said = config['environments'] as Record<EnvironmentName, Partial<Rules>>;
  const staging: Rules = {
    isProtected: false,
    onDrift: said.staging.onDrift ?? 'revert',
    onConflict: said.staging.onConflict ?? 'apply',
  };
  // Protected by the service itself, and so whatever else is not said is strict; so is what all share.
  const production: Rules = { isProtected: true, onDrift: 'report', onConflict: 'hold' };
  return (environment) => (environment === 'staging' ? staging : production);
}

import { randomFrom } from '../../chaos/choices.js';
import type { Trigger } from '../../../src/daemon/view.js';
import { ConfigRepository } from '../git.js';
import { InProcessDaemon } from '../in-process-daemon.js';
import type { Fault } from '../service.js';
import type { ActKind, Event, RunKind } from './events.js';
import { breachesOf, type Document, type Ran } from './laws.js';
import { failOthers, startStoryService, type ServiceKind, type StoryService } from './service.js';
import { lineOf, Play, type Story, type Told } from './story.js';

/** What becomes of a request that a storm takes: it never arrives, nobody hears all of what was done, or it is refused. */
const FAULTS: readonly Fault[] = ['reset-before', 'reset-after', 'truncate', 500, 503];

interface Storm {
  /** Of the requests that it takes. */
  readonly share: number;
  /** What it takes: all requests, those that write, or all from the first write on. */
  readonly takes: 'all' | 'writes' | 'all after a write';
}

const STORMS: readonly Storm[] = [
  { share: 0.2, takes: 'all' },
  { share: 1, takes: 'all' },
  { share: 0.5, takes: 'writes' },
  { share: 1, takes: 'writes' },
  { share: 0.7, takes: 'all after a write' },
  { share: 1, takes: 'all after a write' },
];
/** How often there is one. */
const STORMY = 0.4;
/** Runs after the last storm until everything is as it should be. */
const RUNS_TO_SETTLE = 3;
/** What a run of the stories is for a daemon. Others than these look at what was touched. */
const TRIGGERS: Partial<Record<RunKind, Trigger>> = {
  full: 'request',
  'counted keys': 'schedule',
  'dry run': 'schedule',
};

/**
 * Plays a story with a daemon that runs beside it: a person commits and works on the service by hand, and now and then the
 * service is out of reach for a while.
 *
 * @param quietRuns runs in the end that must write nothing.
 */
export async function tellDaemon(
  { seed, events }: Story,
  kind: ServiceKind,
  quietRuns: number,
): Promise<Told> {
  using repository = new ConfigRepository();
  const service = await startStoryService(kind, 1);
  const weather = new Weather(service, randomFrom(seed ^ 0x57032));
  const { origin, key } = service;
  const watched = new InProcessDaemon(
    repository.directory,
    { origin, key },
    { run: { url: origin, environment: [], lockTimeout: 0, timeout: 1_000 } },
  );
  try {
    const workspace = await service.workspace();
    const parts = { seed, repository, service, workspace };
    const play = new DaemonPlay(parts, { watched, weather, quietRuns });
    await play.begin();
    for (const event of events) if (play.breaches.length === 0) await play.happen(event);
    if (play.breaches.length === 0) await play.end();
    return { seed, runs: play.runs, lines: play.lines, breaches: play.breaches };
  } finally {
    weather.open();
    await watched.daemon.stop('SIGTERM');
    await service.stop();
  }
}

interface Around {
  readonly watched: InProcessDaemon;
  readonly weather: Weather;
  readonly quietRuns: number;
}

class DaemonPlay extends Play {
  readonly #around: Around;
  readonly #random: () => number;
  #isStarted = false;
  #isCalm = true;
  #last: Ran | undefined;

  constructor(parts: ConstructorParameters<typeof Play>[0], around: Around) {
    super(parts);
    this.#around = around;
    this.#random = randomFrom(parts.seed ^ 0xdae);
  }

  override async happen(event: Event): Promise<void> {
    this.#isCalm = false;
    await super.happen(event);
  }

  /** After the last storm everything comes to rest, and stays so. */
  override async end(): Promise<void> {
    if (this.now.isBroken) this.commit('break', [0, 0, 0]);
    this.#isCalm = true;
    for (let run = 0; run < RUNS_TO_SETTLE; run += 1) await this.run('full');
    if (this.#last) this.breaches.push(...breachesOf(this.#last));
    for (let run = 0; run < this.#around.quietRuns; run += 1) {
      await this.run(run % 10 === 0 ? 'full' : 'touched');
      const wrote = this.#last?.recorded.length ?? 0;
      if (wrote > 0) this.breaches.push(`quiet run ${run}: ${wrote} writes`);
    }
    this.#around.weather.open();
    await this.compareHistory();
  }

  protected override async act(kind: ActKind, numbers: Event['numbers']): Promise<void> {
    this.#around.weather.open();
    await super.act(kind, numbers);
    await this.#rest(0);
  }

  protected override async run(kind: RunKind): Promise<Document | null> {
    const { watched } = this.#around;
    const known = (await this.workspace.recorded()).length;
    const before = this.seen ?? (await this.look());
    const ended = watched.runs.length;
    const storm = this.#storm();
    this.#around.weather.open(storm);
    if (this.#isStarted) watched.daemon.trigger(null, TRIGGERS[kind] ?? 'webhook');
    else watched.daemon.start();
    this.#isStarted = true;
    await this.#rest(ended + 1);
    const after = await this.look();
    this.seen = after;
    const all = await this.workspace.recorded();
    const ran = this.#ranBetween(before, after, all.slice(0, all.length - known));
    this.#last = ran;
    this.runs += watched.runs.length - ended;
    this.past.push(before, after);
    const weather = storm ? `, storm: ${storm.share} of ${storm.takes}` : '';
    const line = lineOf(ran, [`(${kind}${weather})`]);
    this.lines.push(ran.document ? line : `${line}${ran.stderr}`);
    this.breaches.push(...this.memory.look(ran));
    return ran.document;
  }

  /** Of several runs that followed each other what the last one said. */
  #ranBetween(before: Ran['before'], after: Ran['after'], recorded: Ran['recorded']): Ran {
    const record = this.#around.watched.runs.at(-1);
    if (!record) throw new Error('bug: there was no run');
    const document = record.plan as Document | null;
    return {
      ...{ kind: 'full', isDry: false, only: null, exitCode: record.exitCode, before, after },
      // What is wrong stays as it is, so that nobody knows what the rest was found equal to.
      document: document && this.now.isBroken ? { ...document, observed: 'touched' } : document,
      stderr: record.summary,
      ...{ recorded, head: this.commits.length, isBroken: false, written: this.written },
    };
  }

  #storm(): Storm | null {
    const isStormy = this.#random() < STORMY && !this.#isCalm;
    return isStormy ? (STORMS[Math.floor(this.#random() * STORMS.length)] ?? null) : null;
  }

  /** Until so many runs are over and none is under way; from then on the daemon has to wait. */
  async #rest(runs: number): Promise<void> {
    const { watched, weather } = this.#around;
    await watched.rest(runs);
    weather.close();
  }
}

/**
 * What lies between a daemon and the service: a gate that holds every request while somebody does something by hand, and
 * storms in which some requests fail.
 */
class Weather {
  readonly #service: StoryService;
  readonly #random: () => number;
  #isClosed = false;
  #storm: Storm | null = null;
  #hasWritten = false;

  /** @param random from 0 to below 1. */
  constructor(service: StoryService, random: () => number) {
    this.#service = service;
    this.#random = random;
    failOthers(service, (method) => {
      if (this.#isClosed) return 'hold';
      return this.#takes(method) ? FAULTS[Math.floor(random() * FAULTS.length)] : undefined;
    });
  }

  /** Lets go on what is held, and what comes. @param storm null: every request is answered. */
  open(storm: Storm | null = null): void {
    this.#storm = storm;
    this.#hasWritten = false;
    this.#isClosed = false;
    this.#service.release();
  }

  close(): void {
    this.#isClosed = true;
  }

  #takes(method: string): boolean {
    if (this.#storm === null) return false;
    const { share, takes } = this.#storm;
    const isWrite = method !== 'GET';
    this.#hasWritten ||= isWrite;
    const isIn = takes === 'all' || (takes === 'writes' ? isWrite : this.#hasWritten);
    return isIn && this.#random() < share;
  }
}

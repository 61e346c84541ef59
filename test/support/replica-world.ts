import { join } from 'node:path';
import { Client } from 'pg';
import { CutLine } from './cut-line.js';
import { openDatabase, type TestDatabase } from './database.js';
import { FollowedBranch, partsOf, type ServiceParts } from './followed-branch.js';
import type { Files } from './git.js';
import { until } from './patience.js';
import { startTestService } from './service.js';
import { flagText, UNPROTECTED_CONFIG as CONFIG } from './spec-texts.js';
import type { Watching } from './watching.js';

const FLAGS = ['pay', 'cart', 'search', 'offers'];
const ENVIRONMENTS = ['staging', 'production'] as const;

/** How leases went, as a trigger in the database has seen it: the only witness that is no replica. */
const WITNESS = `
create table if not exists public.witness (
  at timestamptz not null default clock_timestamp(), name text, holder text, term bigint, expires_at timestamptz
);
create or replace function public.witness() returns trigger language plpgsql as $$
begin
  insert into public.witness (name, holder, term, expires_at)
  values (new.name, new.holder, new.term, new.expires_at);
  return new;
end $$;
drop trigger if exists witness on flagkeel_daemon.lease;
create trigger witness after insert or update on flagkeel_daemon.lease
  for each row execute function public.witness();
`;

export interface Replica {
  /** Of its Admin API key, which nobody else has. */
  readonly name: string;
  readonly watching: Watching;
}

/** One holder's time with the source. Milliseconds since the epoch, by the database's clock. */
export interface Reign {
  readonly holder: string;
  readonly term: number;
  readonly beganAt: number;
  /** When its lease was over, or will be. */
  readonly endsAt: number;
}

export interface LateWrite {
  readonly replica: string;
  readonly object: string;
  readonly afterMs: number;
}

interface ReplicaParts extends ServiceParts {
  readonly leaseMs: number;
  readonly line: CutLine;
  readonly database: TestDatabase;
  readonly witness: Client;
}

/** Several built daemons over one branch, one service and one PostgreSQL, each with a volume and a key of its own. */
export class ReplicaWorld extends FollowedBranch {
  readonly replicas: Replica[] = [];
  /** Between the replicas and their database. */
  readonly line: CutLine;
  readonly #leaseMs: number;
  readonly #database: TestDatabase;
  readonly #witness: Client;

  private constructor(parts: ReplicaParts) {
    super(parts);
    this.line = parts.line;
    this.#leaseMs = parts.leaseMs;
    this.#database = parts.database;
    this.#witness = parts.witness;
  }

  static async open(leaseMs: number): Promise<ReplicaWorld> {
    const database = await openDatabase();
    const parts = await partsOf(await startTestService({ store: { kind: 'memory' } }));
    const witness = new Client({ connectionString: database.url });
    await witness.connect();
    const line = await CutLine.open(Number(new URL(database.url).port));
    return new ReplicaWorld({ ...parts, leaseMs, line, database, witness });
  }

  /**
   * Two replicas, of which one has applied the first commit.
   *
   * @param args further ones of `watch`, for both.
   */
  static async openTwo(leaseMs: number, args: readonly string[] = []): Promise<ReplicaWorld> {
    const world = await ReplicaWorld.open(leaseMs);
    world.push(1);
    await world.start(args);
    await world.start(args);
    await world.applied(1);
    return world;
  }

  /** @param args further ones of `watch`. @param where what it follows; default: the branch. */
  async start(args: readonly string[] = [], where?: readonly string[]): Promise<Replica> {
    const name = `replica-${this.replicas.length + 1}`;
    const key = await this.service.createKey(name);
    const throughLine = new URL(this.#database.url);
    throughLine.port = String(this.line.port);
    const env = {
      FLAGKEEL_API_KEY: key,
      FLAGKEEL_DATABASE: throughLine.href,
      FLAGKEEL_STATE_DIR: join(this.root, `${name}.git`),
    };
    const watching = this.follow(['--lease', `${this.#leaseMs}ms`, ...args], env, where);
    const replica = { name, watching };
    this.replicas.push(replica);
    await watching.line(({ msg }) => msg === 'watching', 'the start');
    if (this.replicas.length === 1) await this.#witness.query(WITNESS);
    return replica;
  }

  /**
   * Gives every flag this share in every environment.
   *
   * @param more files of the same commit.
   * @returns the commit.
   */
  push(percent: number, more: Files = {}): string {
    const files = FLAGS.map((name) => [`flags/${name}.yaml`, flagText(name, percent)]);
    const all = Object.fromEntries(files) as Files;
    return this.pushFiles(`Ramp to ${percent}`, { 'flagkeel.yaml': CONFIG, ...all, ...more });
  }

  /** Shares that the service has; undefined: no such definition. */
  async shares(): Promise<(number | undefined)[]> {
    const places = FLAGS.flatMap((flag) => ENVIRONMENTS.map((each) => [flag, each] as const));
    return Promise.all(
      places.map(async (place) => {
        const { body } = await this.live.call('GET', this.live.at(...place));
        const { defaultRule } = body as { defaultRule?: { treatment: string; size: number }[] };
        return defaultRule?.find(({ treatment }) => treatment === 'on')?.size;
      }),
    );
  }

  async isKilled(flag: string, environment: (typeof ENVIRONMENTS)[number]): Promise<boolean> {
    return (await this.live.definition(flag, environment)).killed;
  }

  async applied(percent: number): Promise<void> {
    await until(
      async () => (await this.shares()).every((share) => share === percent),
      () => `share ${percent} everywhere\n${this.#logs()}`,
    );
  }

  /** Who keeps the source now, by the database. */
  async leader(): Promise<Replica> {
    return until(
      async () => {
        const reign = (await this.reigns()).at(-1);
        const isNow = reign !== undefined && reign.endsAt > Date.now();
        return isNow ? this.replicas.find((each) => holderOf(each) === reign.holder) : undefined;
      },
      () => `a leader\n${this.#logs()}`,
    );
  }

  /** Ends the leader's lease behind its back, as if somebody had taken over; it notices when it asks. */
  async usurp(): Promise<void> {
    await this.#witness.query(
      "update flagkeel_daemon.lease set holder = 'usurper', term = term + 1 where name like 'source-%'",
    );
  }

  /** In order. */
  async reigns(): Promise<Reign[]> {
    const { rows } = await this.#witness.query<Record<keyof Reign, string>>(
      `select holder, term, extract(epoch from min(at)) * 1000 as "beganAt",
         extract(epoch from (array_agg(expires_at order by at desc))[1]) * 1000 as "endsAt"
       from public.witness where name like 'source-%' group by holder, term order by term`,
    );
    return rows.map(({ holder, term, beganAt, endsAt }) => ({
      holder,
      term: Number(term),
      beganAt: Number(beganAt),
      endsAt: Number(endsAt),
    }));
  }

  /** The first that begins after this moment. */
  async reignAfter(momentMs: number): Promise<Reign> {
    return until(
      async () => (await this.reigns()).find(({ beganAt }) => beganAt > momentMs),
      () => `a successor\n${this.#logs()}`,
    );
  }

  /** Writes that the service's audit log has from a replica whose lease was over. */
  async lateWrites(): Promise<LateWrite[]> {
    const reigns = await this.reigns();
    const late: LateWrite[] = [];
    for (let offset = 0; ; offset += 50) {
      const path = `/auditLog?limit=50&offset=${offset}`;
      const page = await this.live.ok<{
        objects: { keyName: string | null; time: number; kind: string; name: string }[];
      }>('GET', path);
      for (const { keyName, time, kind, name } of page.objects) {
        const replica = this.replicas.find((each) => each.name === keyName);
        if (!replica) continue;
        const own = reigns.filter(({ holder }) => holder === holderOf(replica));
        const last = own.filter(({ beganAt }) => beganAt <= time).at(-1);
        const afterMs = time - (last?.endsAt ?? -Infinity);
        if (afterMs > 0) late.push({ replica: replica.name, object: `${kind}/${name}`, afterMs });
      }
      if (page.objects.length < 50) return late;
    }
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.#witness.end();
    await this.line.close();
    await this.#database.stop();
  }

  /** What the replicas said of their leases. */
  leaseLog(): string {
    const said = this.replicas.flatMap(({ name, watching: { lines } }) =>
      lines
        .filter(({ msg }) => /keeps the source|database of the replicas|leases stay/.test(msg))
        .map((line) => `${name} ${JSON.stringify(line)}`),
    );
    return said.join('\n');
  }

  #logs(): string {
    const tail = ({ name, watching: { lines } }: Replica): string =>
      lines
        .slice(-12)
        .map((line) => `${name} ${JSON.stringify(line)}`)
        .join('\n');
    return this.replicas.slice(-3).map(tail).join('\n');
  }
}

/** Its id among the replicas, as its log says it. */
export function holderOf({ watching }: Replica): string | undefined {
  const id = watching.lines.find(({ replica }) => replica !== undefined)?.['replica'];
  return typeof id === 'string' ? id : undefined;
}

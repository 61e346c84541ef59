import {
  byNameOrId,
  findEnvironment,
  findWorkspace,
  type LiveWorkspace,
  type Workspace,
} from '../admin-api/workspace.js';
import { FlagkeelError } from '../errors.js';
import type { AdminReader } from '../admin-api/reader.js';
import { NOTHING_DESIRED, type Config, type Desired, type DesiredKill } from '../model/desired.js';
import { definitionId, keyOf, objectId, type ObjectId } from '../model/ref.js';
import type { ChangeNote, KillResults } from '../model/outcome.js';
import type { Change, FieldChange, Plan, PlanNotes } from '../model/plan.js';
import { isSelected, type RunOptions } from '../model/run.js';
import type { PlanInput } from '../plan/input.js';
import { killOrders, type KillOrder } from '../plan/kills/orders.js';
import { withKilled } from '../plan/kills/plan.js';
import type { SpecCache } from '../specs/cache.js';
import { killsAdded } from './in-git.js';
import {
  flagIdsIn,
  sendKills,
  type Killing,
  type PlacedKill,
  type KillSurroundings,
} from './send.js';

interface KillContext extends KillSurroundings {
  readonly options: RunOptions;
  readonly memory: { readonly specs: SpecCache; kills: KnownKills | null };
  /** The commit whose kills were sent last, by an apply or before one that failed; null if the state has neither. */
  readonly killsSentOf: (place: Workspace) => Promise<string | null>;
  /** Orders of HEAD, and others, that the commit which was applied there took back. Of an older HEAD all may be. */
  readonly takenBack: (place: Workspace) => Promise<readonly KillOrder[] | 'all'>;
  /** Never throws. */
  readonly record: (place: Workspace, results: KillResults) => Promise<void>;
}

/** What the runs of a process have handled, so that only kills that a commit adds are sent. */
export interface KnownKills {
  readonly workspaceId: string;
  readonly ids: ReadonlySet<ObjectId>;
  /** Whether a run has looked at all kills of the workspace. */
  readonly isWhole: boolean;
}

export class SentKills {
  readonly results: KillResults;
  /** The kills that the service accepted. */
  readonly killed: ReadonlySet<ObjectId>;

  constructor(results: KillResults = new Map()) {
    this.results = results;
    const killed = [...results].filter(([, { status }]) => status === 'killed');
    this.killed = new Set(killed.map(([id]) => id));
  }

  /** The observed values as they were before the kills, so that the plan lists the kills as changes. */
  undoneIn<T extends Pick<PlanInput, 'actual'>>(input: T): T {
    if (this.killed.size === 0) return input;
    return withKilled(new Map([...this.killed].map((id) => [id, false])), input);
  }

  /** The changes without the kills, which went out under their own notes. */
  stillToWrite(changes: readonly Change[]): readonly Change[] {
    return changes.flatMap((change) => {
      if (!this.killed.has(change.id)) return [change];
      const fields = change.fields.filter((each) => !isOrdered(each));
      if (fields.length === change.fields.length) return [change];
      return fields.length === 0 ? [] : [{ ...change, fields }];
    });
  }

  /** The plan without the old values that no look saw. */
  withoutUnseen(plan: Plan): Plan {
    const changes = plan.changes.map((change) => {
      const result = this.results.get(change.id);
      if (result?.status !== 'killed' || result.unseen !== true) return change;
      const fields = change.fields.map((field) => {
        const { before: _, ...unseen } = field;
        return isOrdered(field) ? unseen : field;
      });
      return { ...change, fields };
    });
    return { ...plan, changes };
  }

  /** The notes of a plan. A change that is only a kill gets the note of the sent kill. */
  notesOver(notes: PlanNotes, { changes }: Pick<Plan, 'changes'>): PlanNotes {
    const sent = changes.flatMap(({ id, fields }): [ObjectId, ChangeNote][] => {
      const result = this.results.get(id);
      return result?.status === 'killed' && fields.length === 1 ? [[id, result.note]] : [];
    });
    return new Map([...notes, ...sent]);
  }
}

const NONE = new SentKills();

function isOrdered({ reason }: FieldChange): boolean {
  return reason === 'kill';
}

/** Sends the kills of one run before anything else; a dry run sends none. */
export class KillSender {
  readonly #context: KillContext;
  readonly #killing: Killing | null;
  /** The kills that were sent without a look, and their workspace. */
  #added: { readonly workspaceId: string; readonly sent: SentKills } | null = null;

  constructor(context: KillContext, killing: Killing | null) {
    this.#context = context;
    this.#killing = killing;
  }

  /**
   * Sends the kills that are new in git before any other request.
   *
   * @throws FlagkeelError `NOT_ON_SERVICE`: the service has no such workspace.
   */
  async open(desired: Desired): Promise<{ reader: AdminReader; workspace: LiveWorkspace }> {
    const reader = await this.#context.openReader(desired);
    await this.#sendAdded(desired);
    return { reader, workspace: await findWorkspace(reader, desired.config.workspace) };
  }

  /** Reads all kills within the operator's filters, and sends the missing ones. Never throws on service failures. */
  async sendMissing(
    orders: readonly KillOrder[],
    { reader, workspace: place }: { readonly reader: AdminReader; readonly workspace: Workspace },
  ): Promise<SentKills> {
    const { record, memory, options } = this.#context;
    if (!this.#killing) return NONE;
    // If another workspace has taken over the name of the remembered one, it has none of the kills yet.
    const sent = this.#added?.workspaceId === place.workspace.id ? this.#added.sent : NONE;
    const placed = await this.#due(orders, place);
    if (placed.length === 0) return sent;
    // A run over touched objects skips the kills that this process has handled.
    const known = this.#known(place);
    const done = options.touchedSince === 'memory' && known.isWhole ? known.ids : NONE.killed;
    for (const [name, id] of Object.entries(flagIdsIn(sent.results))) {
      reader.learnFlag(place.workspace.id, { name, id });
    }
    const left = placed.filter(({ id }) => !done.has(id) && !sent.results.has(id));
    const looked = await this.#send(left, place, reader);
    await record(place, looked);
    const all = new SentKills(new Map([...sent.results, ...looked]));
    const ids = placed.flatMap(({ id }) => (all.results.get(id)?.status === 'failed' ? [] : id));
    memory.kills = { workspaceId: place.workspace.id, ids: new Set(ids), isWhole: true };
    return all;
  }

  /**
   * For a run that does nothing else.
   *
   * @throws FlagkeelError `OLDER_HEAD`: the commit that was applied took kills back; `NOT_ON_SERVICE`: an environment of
   *   the kills is not there. The other kills were sent. Also if the service cannot be read.
   */
  async sendAlone(desired: Desired): Promise<KillResults> {
    const orders = killOrders(desired);
    const service = await this.open(desired);
    const { results } = await this.sendMissing(orders, service);
    const due = await this.#due(orders, service.workspace);
    if (due.length < this.#placed(orders, service.workspace).length) {
      const why = 'it does not follow the commit of the last apply (use --allow-older)';
      throw new FlagkeelError('OLDER_HEAD', `cannot send all kills of this commit: ${why}`);
    }
    for (const { flag, environment } of orders) {
      if (this.#isInReach(flag, [environment])) findEnvironment(service.workspace, environment);
    }
    return results;
  }

  /**
   * Sends the kills of invalid specs, as far as their valid parts show them. Never throws.
   *
   * @returns results by object; all are failures if the service could not be reached. `due` lists, for a dry run, the
   *   kills that a run would send if they are not live yet.
   */
  async sendAmongInvalid({
    kills,
    config,
  }: {
    readonly kills: readonly DesiredKill[];
    readonly config?: Config;
  }): Promise<{ readonly results: KillResults; readonly due: readonly ObjectId[] }> {
    const killing = this.#killing;
    if (!killing) {
      const due = kills.filter(({ flag, environment }) => this.#isInReach(flag, [environment]));
      return { results: NONE.results, due: due.map(definitionId) };
    }
    if (!config || kills.length === 0) return { results: NONE.results, due: [] };
    try {
      const service = await this.open(killsAlone(config, kills));
      return { results: (await this.sendMissing(kills, service)).results, due: [] };
    } catch (error) {
      const results = new Map(this.#added?.sent.results);
      for (const id of kills.map(definitionId).filter((each) => !results.has(each))) {
        killing.onKill(id, { status: 'failed', error });
        results.set(id, { status: 'failed', error });
      }
      return { results, due: [] };
    }
  }

  /**
   * Sends the kills that are new in git, one request each and without reading first; the state knows the workspace.
   * Leaves those that the state or the service does not find to `sendMissing`.
   */
  async #sendAdded(desired: Desired): Promise<void> {
    const { memory, record } = this.#context;
    const orders = this.#killing ? killOrders(desired) : [];
    const place = orders.length > 0 ? await this.#remembered(desired.config.workspace) : null;
    if (!place) return;
    const added = await this.#newInGit(await this.#due(orders, place), place);
    if (added.length === 0) return;
    const answers = await this.#send(added, place, null);
    const found = [...answers].filter(([, { status }]) => status !== 'absent');
    const sent = new SentKills(new Map(found));
    const known = this.#known(place);
    memory.kills = { ...known, ids: new Set([...known.ids, ...sent.killed]) };
    if (found.length === 0) return;
    this.#added = { workspaceId: place.workspace.id, sent };
    await record(place, sent.results);
  }

  #known({ workspace: { id: workspaceId } }: Workspace): KnownKills {
    const { kills } = this.#context.memory;
    if (kills?.workspaceId === workspaceId) return kills;
    return { workspaceId, ids: new Set(), isWhole: false };
  }

  async #remembered(workspace: string): Promise<Workspace | null> {
    const place = await this.#context.rememberedPlace(workspace);
    if (!place?.environments) return null;
    const environments = Object.entries(place.environments).map(([id, name]) => ({ id, name }));
    return { workspace: { id: place.workspaceId, name: workspace }, environments };
  }

  /** The kills within the operator's filters that nobody took back. */
  async #due(orders: readonly KillOrder[], place: Workspace): Promise<readonly PlacedKill[]> {
    const placed = this.#placed(orders, place);
    const over = placed.length === 0 ? [] : await this.#context.takenBack(place);
    if (over === 'all') return [];
    const reasons = new Map(this.#placed(over, place).map(({ id, order }) => [id, order.reason]));
    // The same flag may have been killed anew.
    return placed.filter(({ id, order }) => reasons.get(id) !== order.reason);
  }

  /** The kills within the operator's filters. Skips environments that the service lacks, which the run reports later. */
  #placed(orders: readonly KillOrder[], place: Workspace): PlacedKill[] {
    return orders.flatMap((order) => {
      const { flag } = order;
      const found = byNameOrId(place.environments, order.environment);
      if (!found || !this.#isInReach(flag, [found.name, found.id])) return [];
      const { id: environmentId, name } = found;
      const ref = { kind: 'flag', name: flag, environment: name } as const;
      return [{ id: objectId(ref), ref, order, environmentId }];
    });
  }

  #isInReach(flag: string, environment: readonly string[]): boolean {
    const { environments, only, exclude = [] } = this.#context.options;
    const key = keyOf('flag', flag);
    return (
      isSelected(environments, environment) && isSelected(only, [key]) && !exclude.includes(key)
    );
  }

  async #newInGit(placed: readonly PlacedKill[], place: Workspace): Promise<readonly PlacedKill[]> {
    const { checkout, revision } = this.#context.source;
    const { ids, isWhole } = this.#known(place);
    const unknown = placed.filter(({ id }) => !ids.has(id));
    if (isWhole || unknown.length === 0) return unknown;
    const before = await this.#context.killsSentOf(place);
    if (before === null || revision.commit === null) return [];
    // On a fault of git none counts as added, and `sendMissing` looks at all.
    const added = await killsAdded(checkout, before, revision.commit).catch(() => []);
    const young = new Set(this.#placed(added, place).map(({ id }) => id));
    return unknown.filter(({ id }) => young.has(id));
  }

  /** @param reader null sends without a look. */
  async #send(
    placed: readonly PlacedKill[],
    place: Workspace,
    reader: AdminReader | null,
  ): Promise<KillResults> {
    const killing = this.#killing;
    if (!killing) return NONE.results;
    const { checkout, revision } = this.#context.source;
    const head = revision.dirty ? null : revision.commit;
    const { specs } = this.#context.memory;
    const flagIds = reader ? await this.#context.flagIdsOf(place) : new Map<string, string>();
    return sendKills(placed, place, { ...killing, reader, flagIds, checkout, head, specs });
  }
}

export function killsAlone(config: Config, kills: readonly DesiredKill[]): Desired {
  return { ...NOTHING_DESIRED, config, kills };
}

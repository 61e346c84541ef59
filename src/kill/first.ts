import { findWorkspace, type Workspace } from '../admin-api/workspace.js';
import type { AdminReader } from '../admin-api/reader.js';
import { NOTHING_DESIRED, type Config, type Desired, type DesiredKill } from '../model/desired.js';
import { keyOf, objectId, type ObjectId } from '../model/ref.js';
import type { KillResults, ChangeNote } from '../model/outcome.js';
import { isSelected, type RunOptions } from '../model/run.js';
import { killOrders, orderKey, type KillOrder } from '../plan/kills/orders.js';
import type { SpecCache } from '../specs/cache.js';
import type { RememberedPlace } from './live-definition.js';
import { killsAdded } from './newer-commit.js';
import { placedKills, sendKills, type KillLane, type PlacedKill } from './send.js';
import { SentKills } from './sent-kills.js';
import type { Source } from '../git/spec-source.js';

/** Dependencies for kills before the plan; a dry run has none. */
export interface Killing extends Pick<KillLane, 'openWriter' | 'onKill'> {
  readonly note: Partial<ChangeNote>;
}

export interface KillContext {
  readonly source: Source;
  readonly options: RunOptions;
  readonly memory: { readonly specs: SpecCache; readonly kills: KnownKills };
  readonly openReader: (desired: Desired) => Promise<AdminReader>;
  /** The only workspace of this name or id in the states; null if none or several have it. Sends no request. */
  readonly rememberedPlace: (workspace: string) => Promise<RememberedPlace | null>;
  /** The commit that the last run applied there; null if there is none, or if the state is unreadable. */
  readonly appliedHead: (place: Workspace) => Promise<string | null>;
  /** The commit whose kills were sent last, by an apply or before one that failed; null if the state has neither. */
  readonly killsSentOf: (place: Workspace) => Promise<string | null>;
  /** Whether HEAD comes before the applied commit, so that its orders may be outdated. */
  readonly isOutdated: (applied: string | null) => Promise<boolean>;
  /** Records the results before the run goes on. Never throws. */
  readonly record: (place: Workspace, results: KillResults) => Promise<void>;
}

/** Kills that the runs of one process have handled, so that only those that a commit adds are sent. */
export class KnownKills {
  #workspaceId: string | null = null;
  #ids: ReadonlySet<ObjectId> = new Set();
  #isWhole = false;

  /** null until a run of this process has looked at all kills of the workspace. */
  allOf({ workspace }: Workspace): ReadonlySet<ObjectId> | null {
    return this.#isWhole && this.#workspaceId === workspace.id ? this.#ids : null;
  }

  isKnown({ workspace }: Workspace, id: ObjectId): boolean {
    return this.#workspaceId === workspace.id && this.#ids.has(id);
  }

  /** Adds kills that were sent. */
  add(place: Workspace, ids: ReadonlySet<ObjectId>): void {
    const all = this.allOf(place);
    const isSame = this.#workspaceId === place.workspace.id;
    this.#ids = new Set([...(isSame ? this.#ids : []), ...ids]);
    this.#workspaceId = place.workspace.id;
    this.#isWhole = all !== null;
  }

  /** Replaces all kills of the workspace by those that a full look saw or sent. */
  keep({ workspace }: Workspace, ids: readonly ObjectId[]): void {
    this.#workspaceId = workspace.id;
    this.#ids = new Set(ids);
    this.#isWhole = true;
  }
}

const NO_KILLS: KillResults = new Map();

/** Sends the kills of one run before anything else; a dry run sends none. */
export class KillSender {
  readonly #context: KillContext;
  readonly #killing: Killing | null;
  /** The kills that were sent without a look, and their workspace. */
  #sent: { readonly workspaceId: string; readonly results: KillResults } | null = null;

  /** @param killing null for a dry run. */
  constructor(context: KillContext, killing: Killing | null) {
    this.#context = context;
    this.#killing = killing;
  }

  get isDryRun(): boolean {
    return this.#killing === null;
  }

  /**
   * Sends the kills that are new in git, one request each and without reading first; the state knows the workspace.
   * Leaves kills that the state or the service does not find to `sendFirst`. Never throws on failures of the service.
   */
  async sendAdded({
    flags,
    kills,
    config,
  }: Pick<Desired, 'flags' | 'kills' | 'config'>): Promise<void> {
    const killing = this.#killing;
    const orders = killing ? killOrders({ flags, kills }) : [];
    const place = orders.length > 0 ? await this.#remembered(config.workspace) : null;
    if (!killing || !place) return;
    if (await this.#context.isOutdated(await this.#context.appliedHead(place))) return;
    const placed = this.#placed(orders, place);
    const added = await this.#added(placed, place);
    if (added.length === 0) return;
    const answers = await sendKills(added, place, { ...this.#lane(killing), reader: null });
    // `sendFirst` looks again for those that the service did not find by name.
    const results = new Map([...answers].filter(([, { status }]) => status !== 'absent'));
    this.#context.memory.kills.add(place, killedIn(results));
    if (results.size === 0) return;
    this.#sent = { workspaceId: place.workspace.id, results };
    await this.#context.record(place, results);
  }

  /** Reads all kills within the operator's filters, and sends the missing ones. Never throws on service failures. */
  async sendFirst(
    desired: Pick<Desired, 'flags' | 'kills'>,
    service: { readonly reader: AdminReader; readonly workspace: Workspace },
  ): Promise<SentKills> {
    return new SentKills(await this.#send(killOrders(desired), service));
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
    const { options, openReader } = this.#context;
    if (!killing) return { results: NO_KILLS, due: killsInReach(kills, options) };
    if (!config || kills.length === 0) return { results: NO_KILLS, due: [] };
    const desired = killsAlone(config, kills);
    try {
      const reader = await openReader(desired);
      await this.sendAdded(desired);
      const workspace = await findWorkspace(reader, config.workspace);
      return { results: await this.#send(kills, { reader, workspace }), due: [] };
    } catch (error) {
      const sent = this.#sent?.results ?? NO_KILLS;
      const failed = kills.flatMap(({ flag: name, environment }) => {
        const id: ObjectId = objectId({ kind: 'flag', name, environment });
        if (sent.has(id)) return [];
        killing.onKill(id, { status: 'failed', error });
        return [[id, { status: 'failed' as const, error }] as const];
      });
      return { results: new Map([...sent, ...failed]), due: [] };
    }
  }

  async #send(
    orders: readonly KillOrder[],
    { reader, workspace: place }: { reader: AdminReader; workspace: Workspace },
  ): Promise<KillResults> {
    const killing = this.#killing;
    const { appliedHead, isOutdated, record, memory, options } = this.#context;
    if (!killing) return NO_KILLS;
    // If another workspace has taken over the name of the remembered one, it has none of the kills yet.
    const sent = this.#sent?.workspaceId === place.workspace.id ? this.#sent.results : NO_KILLS;
    if (orders.length === 0 || (await isOutdated(await appliedHead(place)))) return sent;
    const placed = this.#placed(orders, place);
    // A run over touched objects skips the kills that this process has handled.
    const known = options.touchedSince === 'memory' ? memory.kills.allOf(place) : null;
    const done = known ?? killedIn(sent);
    const left = placed.filter(({ ref }) => !done.has(objectId(ref)));
    const looked = await sendKills(left, place, { ...this.#lane(killing), reader });
    await record(place, looked);
    const results = new Map([...sent, ...looked]);
    const ids = placed.map(({ ref }) => objectId(ref));
    memory.kills.keep(
      place,
      ids.filter((id) => results.get(id)?.status !== 'failed'),
    );
    return results;
  }

  async #remembered(workspace: string): Promise<Workspace | null> {
    const place = await this.#context.rememberedPlace(workspace);
    if (!place?.environments) return null;
    const environments = Object.entries(place.environments).map(([id, name]) => ({ id, name }));
    return { workspace: { id: place.workspaceId, name: workspace }, environments };
  }

  /** Leaves out kills outside the operator's filters, and those in environments that the service lacks. */
  #placed(orders: readonly KillOrder[], place: Workspace): PlacedKill[] {
    const { options } = this.#context;
    return placedKills(orders, place, (flag, { name, id }) => {
      return (
        isSelected(options.environments, [name, id]) &&
        isSelected(options.only, [keyOf('flag', flag)])
      );
    });
  }

  async #added(placed: readonly PlacedKill[], place: Workspace): Promise<readonly PlacedKill[]> {
    const { memory, source } = this.#context;
    const isNew = ({ ref }: PlacedKill): boolean => !memory.kills.isKnown(place, objectId(ref));
    if (memory.kills.allOf(place)) return placed.filter(isNew);
    const { commit } = source.revision;
    const before = await this.#context.killsSentOf(place);
    if (before === null || commit === null) return [];
    // On a fault of git none counts as added, and `sendFirst` looks at all.
    const added = await killsAdded(source.checkout, before, commit).catch(() => new Set());
    return placed.filter((each) => added.has(orderKey(each.order)) && isNew(each));
  }

  #lane(killing: Killing): Omit<KillLane, 'reader'> {
    const { source, memory } = this.#context;
    const { checkout, revision } = source;
    return {
      ...killing,
      checkout,
      head: revision.dirty ? null : revision.commit,
      specs: memory.specs,
    };
  }
}

function killedIn(results: KillResults): ReadonlySet<ObjectId> {
  return new Set([...results].flatMap(([id, { status }]) => (status === 'killed' ? [id] : [])));
}

/** The ordered kills within the operator's filters, as far as the specs alone can show. */
function killsInReach(
  kills: readonly DesiredKill[],
  { environments, only }: RunOptions,
): ObjectId[] {
  return kills
    .filter(({ flag, environment }) => {
      return isSelected(environments, [environment]) && isSelected(only, [keyOf('flag', flag)]);
    })
    .map(({ flag: name, environment }) => objectId({ kind: 'flag', name, environment }));
}

/** Specs with the place of the service and the kills, and nothing else. */
export function killsAlone(config: Config, kills: readonly DesiredKill[]): Desired {
  return { ...NOTHING_DESIRED, config, kills };
}

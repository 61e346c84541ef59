import { findWorkspace, type Workspace } from '../admin-api/workspace.js';
import type { AdminReader } from '../admin-api/reader.js';
import { NOTHING_DESIRED, type Config, type Desired, type DesiredKill } from '../model/desired.js';
import { keyOf, objectId, type ObjectId } from '../model/ref.js';
import type { KillResults, ChangeNote } from '../model/outcome.js';
import { isSelected, type RunOptions } from '../model/run.js';
import { killOrders, type KillOrder } from '../plan/kills/orders.js';
import { sendKills, type KillLane } from './send.js';
import { SentKills } from './sent-kills.js';
import type { Source } from '../git/spec-source.js';

/** What a run needs to send kills before it plans; a dry run has none of it. */
export interface Killing extends Pick<KillLane, 'openWriter' | 'onKill'> {
  readonly note: Partial<ChangeNote>;
}

export interface KillContext {
  readonly source: Source;
  readonly options: RunOptions;
  readonly openReader: (desired: Desired) => Promise<AdminReader>;
  /** Whether HEAD is one that an earlier run has gone beyond: what it orders is not what git orders now. */
  readonly isOutdated: (place: Workspace) => Promise<boolean>;
  /** Told what became of the kills, before anything else is done. Never throws. */
  readonly record: (place: Workspace, results: KillResults) => Promise<void>;
}

const NO_KILLS: KillResults = new Map();

/** Sends the kills of one run before anything else; a dry run sends none. */
export class KillSender {
  readonly #context: KillContext;
  readonly #killing: Killing | null;

  /** @param killing null: a dry run. */
  constructor(context: KillContext, killing: Killing | null) {
    this.#context = context;
    this.#killing = killing;
  }

  get isDryRun(): boolean {
    return this.#killing === null;
  }

  /** Sends what is ordered and within the operator's filters. Never throws on what the service does. */
  async sendFirst(
    desired: Pick<Desired, 'flags' | 'kills'>,
    service: { readonly reader: AdminReader; readonly workspace: Workspace },
  ): Promise<SentKills> {
    return new SentKills(await this.#send(killOrders(desired), service));
  }

  /**
   * Sends the kills of specs that are invalid: as much as can be told from what is right by itself.
   *
   * @returns results by object; all failed where the service could not be reached at all. `due`: of a dry run, what a
   *   run would send where it is not done yet. Never throws.
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
    try {
      const reader = await openReader(killsAlone(config, kills));
      const workspace = await findWorkspace(reader, config.workspace);
      return { results: await this.#send(kills, { reader, workspace }), due: [] };
    } catch (error) {
      const failed = kills.map(({ flag: name, environment }) => {
        const id: ObjectId = objectId({ kind: 'flag', name, environment });
        killing.onKill(id, { status: 'failed', error });
        return [id, { status: 'failed' as const, error }] as const;
      });
      return { results: new Map(failed), due: [] };
    }
  }

  async #send(
    orders: readonly KillOrder[],
    { reader, workspace }: { reader: AdminReader; workspace: Workspace },
  ): Promise<KillResults> {
    const killing = this.#killing;
    const { source, options, isOutdated, record } = this.#context;
    if (!killing || orders.length === 0 || (await isOutdated(workspace))) return NO_KILLS;
    const results = await sendKills(orders, workspace, {
      ...killing,
      reader,
      checkout: source.checkout,
      head: source.revision.dirty ? null : source.revision.commit,
      isInReach: (flag, { name, id }) =>
        isSelected(options.environments, [name, id]) &&
        isSelected(options.only, [keyOf('flag', flag)]),
    });
    await record(workspace, results);
    return results;
  }
}

/** What is ordered and within the operator's filters, as far as that can be told without asking the service. */
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

/** Specs that say where the service is and what to kill, and nothing else. */
export function killsAlone(config: Config, kills: readonly DesiredKill[]): Desired {
  return { ...NOTHING_DESIRED, config, kills };
}

import type { Definition } from '../../../src/model/flag/flag.js';
import { bindEnvironments, type BoundDesired } from '../../../src/model/bound-desired.js';
import type { ObjectId } from '../../../src/model/ref.js';
import type { RampRecords, State } from '../../../src/model/state.js';
import type { PlanInput } from '../../../src/plan/input.js';
import { stateAfterVerify } from '../../../src/plan/bases/next-state.js';
import { planChanges } from '../../../src/plan/plan.js';
import { momentOfRun, timedInput } from '../../../src/reconcile/policy.js';
import type { TimedInput } from '../../../src/reconcile/context.js';
import type { Moment } from '../../../src/timing/desired-at.js';
import { recordsAfter } from '../../../src/timing/records.js';
import { SpecCache } from '../../../src/specs/cache.js';
import { readSpecs } from '../../../src/specs/read-specs.js';
import { parseRunFile, RUN_FILE, stateTree } from '../../../src/state/codec.js';
import { anActual, anEnvironment, aPolicy, liveFlag, NO_STATE } from '../builders.js';
import { treeOf } from '../spec-tree.js';
import { askedBy, DEFAULT } from './oracle.js';
import { EPOCH_MS, filesOf, FREEZE, HOUR_MS, type Rollout } from './specs.js';

const NAMES = new Map([
  ['staging', 'staging'],
  ['production', 'production'],
]);
const ID = 'flag/shop@production';
const at = (hour: number): string => new Date(EPOCH_MS + hour * HOUR_MS).toISOString();
const wall = (hour: number): string => `"${at(hour).slice(0, 16)}"`;
const CONFIG = `freezes: { fair: { from: ${wall(FREEZE[0])}, to: ${wall(FREEZE[1])}, zone: UTC } }\n`;

/** What a run left behind. */
export interface Ran {
  readonly live: readonly (readonly [asks: string, share: number])[];
  /** Whether these are as git has them. */
  readonly isEqual: {
    readonly rules: boolean;
    readonly ofDefault: boolean;
    readonly whole: boolean;
  };
}

/** A service and a state in memory, and runs of the program between them: its specs, ladders, planner, bases and codec. */
export class RampWorld {
  live: Definition = { defaultRule: [{ treatment: 'off', size: 100 }], killed: false };
  #state: State = NO_STATE;
  #ramps: RampRecords = {};
  readonly #cache = new SpecCache();

  get isKilled(): boolean {
    return this.live.killed === true;
  }

  get shares(): ReadonlyMap<string, number> {
    return new Map(sharesIn(this.live));
  }

  loseState(): void {
    this.#state = NO_STATE;
    this.#ramps = {};
  }

  setDefault(share: number): void {
    const sizes = [
      { treatment: 'on', size: share },
      { treatment: 'off', size: 100 - share },
    ];
    this.live = { ...this.live, defaultRule: sizes.filter(({ size }) => size > 0) };
  }

  /** Null: the specs are not valid. */
  async specsOf(rollout: Rollout): Promise<BoundDesired | null> {
    const result = await readSpecs(treeOf(filesOf(rollout, CONFIG)), this.#cache);
    return result.ok ? bindEnvironments(result.desired, NAMES) : null;
  }

  async run(desired: BoundDesired, hour: number, isStateless = false): Promise<Ran> {
    const nowMs = EPOCH_MS + hour * HOUR_MS;
    const home = isStateless ? null : { notShared: () => null };
    const state = isStateless ? NO_STATE : this.#state;
    const policy = aPolicy({
      adopt: true,
      stateless: isStateless,
      environments: [anEnvironment('staging', { selected: false }), anEnvironment('production')],
    });
    const context = { source: { revision: { commit: null } }, now: () => nowMs };
    const remembered = { home, state, timing: isStateless ? {} : this.#ramps };
    const moment = await momentOfRun(context as never, desired, policy, remembered as never);
    const { closed } = moment;
    const input = this.#looked({ desired, state, policy: { ...policy, closed } }, moment);
    const restored = new Set<ObjectId>();
    for (const { id, fields, reason } of planChanges(input).changes) {
      if (id !== ID) continue;
      if (reason === 'restore') restored.add(id);
      const written = fields.map(({ path, after }) => [path.slice(1), after]);
      this.live = { ...this.live, ...(Object.fromEntries(written) as Definition) };
    }
    const again = this.#looked(input, input.moment);
    const left = planChanges(again);
    const open = [...left.changes, ...left.withheld].filter(({ id }) => id === ID);
    const paths = new Set(open.flatMap(({ fields }) => fields.map(({ path }) => path)));
    if (!isStateless) {
      this.#state = stateAfterVerify(again, new Set(left.unchanged), null, at(hour));
      this.#ramps = kept(
        recordsAfter(input.moment, {
          ...{ state: this.#state, known: this.#ramps, restored, killed: new Set() },
          isPlanned: (_, environmentId) => environmentId === 'env-production',
        }),
      );
    }
    const isEqual = {
      rules: !paths.has('/rules'),
      ofDefault: !paths.has('/defaultRule'),
      whole: open.length === 0,
    };
    return { live: sharesIn(this.live), isEqual };
  }

  #looked({ desired, state, policy }: Omit<PlanInput, 'actual'>, moment: Moment): TimedInput {
    const actual = anActual({ flags: [liveFlag('shop', { production: this.live })] });
    return timedInput({ desired, state, policy, actual }, moment);
  }
}

/** As the next run reads it. */
function kept(ramps: RampRecords): RampRecords {
  const { others } = stateTree(NO_STATE, { head: null, workspace: 'w', ramps });
  return parseRunFile(others.get(RUN_FILE) ?? '').ramps ?? {};
}

function sharesIn(definition: Definition): [string, number][] {
  const { rules = [], defaultRule = [] } = definition;
  const shareOf = (buckets: typeof defaultRule): number =>
    buckets.find(({ treatment }) => treatment === 'on')?.size ?? 0;
  return [
    ...rules.map(({ matchers: [matcher], buckets }): [string, number] => {
      const { attribute, ...rest } = matcher ?? { type: '' };
      const values = Object.values(rest).find(Array.isArray) ?? [];
      return [
        askedBy({
          attribute: typeof attribute === 'string' ? attribute : '',
          values: values as string[],
        }),
        shareOf(buckets),
      ];
    }),
    [DEFAULT, shareOf(defaultRule)],
  ];
}

import type { BoundDesired } from '../../../src/model/bound-desired.js';
import type { Config } from '../../../src/model/desired.js';
import type { Definition } from '../../../src/model/flag/flag.js';
import { shareOf, type DesiredRamp } from '../../../src/model/flag/ramp.js';
import type { ObjectId } from '../../../src/model/ref.js';
import type { RampRecords, State } from '../../../src/model/state.js';
import { stateAfterVerify } from '../../../src/plan/bases/next-state.js';
import type { PlanInput } from '../../../src/plan/input.js';
import { planChanges } from '../../../src/plan/plan.js';
import type { PlannedEnvironment } from '../../../src/plan/policy.js';
import type { RunContext, TimedInput } from '../../../src/reconcile/context.js';
import { momentOfRun, timedInput } from '../../../src/reconcile/policy.js';
import { parseRunFile, RUN_FILE, stateTree } from '../../../src/state/codec.js';
import type { Moment } from '../../../src/timing/desired-at.js';
import { recordsAfter, recordsBefore } from '../../../src/timing/records.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  aPolicy,
  desiredFlag,
  liveFlag,
  NO_STATE,
} from '../builders.js';

const ID = 'flag/shop@production';

/** What differs from an ordinary run. */
interface RunWay {
  /** It keeps no state. */
  readonly isStateless?: boolean;
  /** It ends once it has written, before it remembers what it found. */
  readonly isCut?: boolean;
  readonly commit?: string;
  readonly askCheck?: RunContext['askCheck'];
}

/** What a run did: fields of the definition, as plans name them. */
export interface Ran {
  readonly written: readonly string[];
  /** Those that are not as git has them afterwards. */
  readonly open: ReadonlySet<string>;
  /** Ids of what the same run would write again. */
  readonly left: readonly string[];
}

/** A definition on a service and a state, both in memory, and the program's runs between them: ladders, planner, bases and codec. */
export class RampWorld {
  live: Definition;
  #state: State = NO_STATE;
  #ramps: RampRecords = {};
  readonly #production: Partial<PlannedEnvironment>;

  constructor(live: Definition, production: Partial<PlannedEnvironment> = {}) {
    this.live = live;
    this.#production = production;
  }

  get share(): number {
    return shareOf(this.live.defaultRule ?? [], 'on');
  }

  get isKilled(): boolean {
    return this.live.killed === true;
  }

  /** The share that the state remembers of the ramp of the default rule. */
  get reached(): number {
    return this.#ramps['shop@env-production default']?.reached ?? 0;
  }

  loseState(): void {
    this.#state = NO_STATE;
    this.#ramps = {};
  }

  async run(desired: BoundDesired, ms: number, how: RunWay = {}): Promise<Ran> {
    const { isStateless = false, isCut = false, commit = null, askCheck } = how;
    const home = isStateless ? null : { notShared: () => null };
    const state = isStateless ? NO_STATE : this.#state;
    const timing = isStateless ? {} : this.#ramps;
    const policy = aPolicy({
      adopt: true,
      stateless: isStateless,
      environments: [
        anEnvironment('staging', { selected: false }),
        anEnvironment('production', this.#production),
      ],
    });
    const context = { source: { revision: { commit } }, now: () => ms, askCheck };
    const remembered = { home, state, timing };
    const moment = await momentOfRun(context as never, desired, policy, remembered as never);
    const { closed } = moment;
    const input = this.#looked({ desired, state, policy: { ...policy, closed } }, moment);
    const changes = planChanges(input).changes.filter(({ id }) => id === ID);
    const fields = changes.flatMap((each) => each.fields);
    const values = fields.map(({ path, after }) => [path.slice(1), after]);
    this.live = { ...this.live, ...(Object.fromEntries(values) as Definition) };
    const again = this.#looked(input, input.moment);
    const left = planChanges(again);
    if (isCut) this.#ramps = recordsBefore(input.moment, timing);
    else if (!isStateless) {
      const of = (isMeant: boolean): ReadonlySet<ObjectId> => new Set(isMeant ? [ID] : []);
      const nowText = new Date(ms).toISOString();
      this.#state = stateAfterVerify(again, new Set(left.unchanged), commit, nowText);
      this.#ramps = kept(
        recordsAfter(input.moment, {
          ...{ state: this.#state, known: timing },
          restored: of(changes.some(({ reason }) => reason === 'restore')),
          killed: of(fields.some(({ path, after }) => path === '/killed' && after === true)),
          isPlanned: (_, environmentId) => environmentId === 'env-production',
        }),
      );
    }
    const open = [...left.changes, ...left.withheld].filter(({ id }) => id === ID);
    return {
      written: fields.map(({ path }) => path),
      open: new Set(open.flatMap((each) => each.fields.map(({ path }) => path))),
      left: left.changes.map(({ id }) => id),
    };
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

/** Specs of which the default rule in production has this ramp. */
export function rampedSpecs(ramp: DesiredRamp, config: Partial<Config> = {}): BoundDesired {
  const { written: defaultRule } = ramp;
  const flag = desiredFlag('shop', { environments: { production: { defaultRule } } });
  const environments = new Map(
    [...flag.environments].map(([name, each]) => [name, { ...each, ramps: [ramp] }]),
  );
  const specs = aDesired({ flags: [{ ...flag, environments }] });
  return { ...specs, config: { ...specs.config, ...config } };
}

import { FREEZE, type Rollout, type WrittenLadder, type WrittenRule } from './specs.js';

/** What people are promised of ramps, said once more and without a word of the program. Hours and per cent. */

interface Memory {
  readonly since: number;
  readonly from: number;
  readonly form: string;
  readonly isStopped: boolean;
  readonly reached: number;
  /** From when on, and from which share on, it counts where the run took the kill back. */
  readonly restored: Pick<Memory, 'since' | 'from'>;
}

/** Shares of `on`: of the default rule, and of rules by what they ask for. */
type Shares = ReadonlyMap<string, number>;

export const DEFAULT = 'default';

export function askedBy({ attribute, values }: Pick<WrittenRule, 'attribute' | 'values'>): string {
  return `${attribute} in ${values.toSorted().join(',')}`;
}

interface Ramped {
  readonly id: string;
  readonly asks: string;
  readonly ladder: WrittenLadder;
  readonly isNameless: boolean;
}

export class Oracle {
  #memory = new Map<string, Memory>();
  /** Of what was last found as git has it. */
  #base: Map<string, number> | null = null;

  loseState(): void {
    this.#memory = new Map();
    this.#base = null;
  }

  /** What a run writes that keeps a state. @param live what the service has. */
  expected(rollout: Rollout, live: Shares, isKilled: boolean, hour: number): Shares {
    const next = new Map<string, Memory>();
    const shares = new Map(plainShares(rollout));
    const ramped = rampedIn(rollout);
    for (const ramp of ramped) {
      const { id, asks, ladder } = ramp;
      const isStopped = ladder.hold || isKilled;
      const form = formOf(ladder);
      const known = this.#memory.get(id);
      const inBase = this.#base?.get(asks) ?? this.#handedOn(ramp, ramped);
      const reached = known?.reached ?? inBase ?? live.get(asks);
      const start = ladder.startHour;
      const counted = (stops: boolean): Pick<Memory, 'since' | 'from'> => {
        if (!known) return { since: start ?? hour, from: 0 };
        if (known.form === form && known.isStopped === stops) return known;
        return { since: Math.max(hour, start ?? 0), from: known.reached };
      };
      const { since, from } = counted(isStopped);
      const { since: restoredAt, from: restoredFrom } = counted(false);
      const restored = { since: restoredAt, from: restoredFrom };
      const due = isStopped ? 0 : shareDue(ladder, since, from, hour);
      shares.set(asks, Math.max(due, reached ?? 0));
      next.set(id, { since, from, form, isStopped, reached: reached ?? 0, restored });
    }
    this.#memory = next;
    return shares;
  }

  /**
   * After the run: what it found equal.
   *
   * @param isEqual whether the rules, and the default rule, are as git has them; `killed`: whether the flag is killed now.
   */
  ran(
    rollout: Rollout,
    shares: Shares,
    isEqual: { rules: boolean; ofDefault: boolean; whole: boolean; killed: boolean },
  ): void {
    const kept = [...(this.#base ?? [])].filter(
      ([asks]) => !(asks === DEFAULT ? isEqual.ofDefault : isEqual.rules),
    );
    const seen = [...shares].filter(([asks]) =>
      asks === DEFAULT ? isEqual.ofDefault : isEqual.rules,
    );
    // Fields one by one are remembered of what was once found equal as a whole.
    if (this.#base !== null || isEqual.whole) this.#base = new Map([...kept, ...seen]);
    for (const { id, asks, ladder } of rampedIn(rollout)) {
      const known = this.#memory.get(id);
      const isRestored = known?.isStopped === true && !ladder.hold && !isEqual.killed;
      const memory = isRestored ? { ...known, ...known.restored, isStopped: false } : known;
      if (memory) this.#memory.set(id, memory);
      const isFound = asks === DEFAULT ? isEqual.ofDefault : isEqual.rules;
      if (memory && isFound)
        this.#memory.set(id, { ...memory, reached: shares.get(asks) ?? memory.reached });
    }
  }

  /** A run that keeps no state moves what has a start, and only upwards. */
  stateless(rollout: Rollout, live: Shares, isKilled: boolean, hour: number): Shares {
    const shares = new Map(plainShares(rollout));
    for (const { asks, ladder } of rampedIn(rollout)) {
      const { startHour: start, hold } = ladder;
      const due = start === null || hold || isKilled ? 0 : shareDue(ladder, start, 0, hour);
      shares.set(asks, Math.max(due, live.get(asks) ?? 0));
    }
    return shares;
  }

  /** A rule without a name whose condition was edited: its users keep what they have. */
  #handedOn({ id, ladder, asks, isNameless }: Ramped, all: readonly Ramped[]): number | undefined {
    if (!isNameless || this.#memory.has(id)) return undefined;
    const form = formOf(ladder);
    const ids = new Set(all.map((each) => each.id));
    const gone = [...this.#memory].filter(
      ([each, memory]) => each.startsWith('if ') && !ids.has(each) && memory.form === form,
    );
    const come = all.filter(
      (each) => each.isNameless && !this.#memory.has(each.id) && formOf(each.ladder) === form,
    );
    const [was] = gone;
    if (!was || gone.length > 1 || come.length > 1) return undefined;
    const before = was[0].slice('if '.length);
    const isSame = before.split(' ')[0] === asks.split(' ')[0];
    return isSame ? this.#base?.get(before) : undefined;
  }
}

function rampedIn({ rules, ofDefault }: Rollout): Ramped[] {
  const ofRules = rules.flatMap((rule): Ramped[] => {
    const asks = askedBy(rule);
    if (rule.ladder === null) return [];
    const id = rule.name === null ? `if ${asks}` : `rule ${rule.name}`;
    return [{ id, asks, ladder: rule.ladder, isNameless: rule.name === null }];
  });
  if (ofDefault === null) return ofRules;
  return [...ofRules, { id: DEFAULT, asks: DEFAULT, ladder: ofDefault, isNameless: false }];
}

function plainShares({ rules }: Rollout): [string, number][] {
  return [
    [DEFAULT, 0],
    ...rules.map((rule): [string, number] => [askedBy(rule), rule.ladder ? 0 : 100]),
  ];
}

function formOf({ steps, startHour }: WrittenLadder): string {
  return JSON.stringify([steps, startHour]);
}

/** The share of the last step that is due: each waits for the one before it, and none is due in the freeze. */
function shareDue({ steps }: WrittenLadder, since: number, from: number, hour: number): number {
  let at = since;
  let share = 0;
  for (const [percent, hours] of steps) {
    if (percent <= from) continue;
    at += hours;
    if (at >= FREEZE[0] && at < FREEZE[1]) at = FREEZE[1];
    if (at <= hour) share = percent;
  }
  return share;
}

import type { Definition } from '../model/flag/flag.js';
import type { DesiredRamp } from '../model/flag/ramp.js';
import { canonicalDefinition } from '../model/flag/wire.js';
import { sameJson } from '../model/json.js';
import { refOfId, type ObjectId } from '../model/ref.js';
import type { RampRecord, RampRecords, RampSetback, State } from '../model/state.js';
import type { Moment } from './desired-at.js';
import { idIn, reachedOn, shareOn, sidesOf } from './shares.js';

interface Brought {
  readonly state: State;
  readonly known: RampRecords;
  /** Definitions whose kill the run took back: their next wait counts from this run. */
  readonly restored: ReadonlySet<ObjectId>;
  readonly killed: ReadonlySet<ObjectId>;
  /** Whether the run planned the flag in the environment with this id. */
  readonly isPlanned: (flag: string, environmentId: string) => boolean;
}

/**
 * The memory of ramps after a run: for planned ones, from their ladders and the shares that the state has as equal by
 * now; others keep theirs. Ramps that left the specs are forgotten.
 */
export function recordsAfter(moment: Moment, brought: Brought): RampRecords {
  const { desired, ladders, facts } = moment;
  const { state, known, restored, killed, isPlanned } = brought;
  const isKept = (id: string): boolean => {
    const [, flag = '', environmentId = ''] = /^([^@]*)@(\S*) /.exec(id) ?? [];
    return !isPlanned(flag, environmentId);
  };
  const next = new Map(Object.entries(known).filter(([id]) => isKept(id)));
  for (const [id, own] of ladders) {
    const { name = '', environment } = refOfId(id) ?? {};
    const place = idIn(facts, environment ?? '');
    if (!environment || place === undefined || !isPlanned(name, place)) continue;
    const wanted = desired.flags.get(name)?.environments.get(environment)?.fields ?? {};
    const { live, base } = sidesOf({ ...facts, state }, name, environment);
    for (const ladder of own) {
      const { id: key, ramp, anchors, isKilled, record } = ladder;
      const before = record ?? known[key];
      const reached = isEqualOn(base, wanted, ramp)
        ? shareOn(wanted, ramp)
        : (reachedOn(ladder, base) ?? (live && shareOn(live, ramp)));
      const isRestored = restored.has(id);
      const setback = isRestored ? undefined : ladder.setback;
      const isMade =
        setback?.act === 'kill' ? isKilled || killed.has(id) : isEqualOn(base, wanted, ramp);
      const made = setback && isMade ? withoutBegun(setback) : setback;
      const isStopped = (isKilled && !isRestored) || (made && !made.begun);
      const anchor = anchors?.[isStopped ? 'killed' : 'alive'];
      if (anchor)
        next.set(key, { ...anchor, reached: reached ?? 0, ...(made && { setback: made }) });
      else if (before) next.set(key, before);
    }
  }
  return Object.fromEntries([...next].sort());
}

/** The memory before a run takes ramps back, so that the next run recognises what a run did that was cut off. */
export function recordsBefore({ ladders }: Moment, known: RampRecords): RampRecords {
  const begun = [...ladders.values()]
    .flat()
    .flatMap(({ id, record, setback }): [string, RampRecord][] =>
      record && setback?.begun ? [[id, { ...record, setback }]] : [],
    );
  return { ...known, ...Object.fromEntries(begun) };
}

function withoutBegun({ begun: _, ...setback }: RampSetback): RampSetback {
  return setback;
}

function isEqualOn(base: Definition | undefined, wanted: Definition, ramp: DesiredRamp): boolean {
  const member = ramp.rule === null ? 'defaultRule' : 'rules';
  const [was, is] = [base, wanted].map((side) => canonicalDefinition(side ?? {})[member]);
  return was !== undefined && sameJson(was, is);
}

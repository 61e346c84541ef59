import type { LongRampSpec, RampSpec } from '../../generated/flag.schema.d.js';
import { present } from '../../model/collections.js';
import { parseDuration } from '../../platform/clock.js';
import type { Config } from '../../model/desired.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import type { Bucket, Rule } from '../../model/flag/flag.js';
import {
  conditionOf,
  rampKey,
  shareOf,
  type DesiredRamp,
  type RampStep,
} from '../../model/flag/ramp.js';
import { canonicalDefinition } from '../../model/flag/wire.js';
import { parseMoment } from '../../platform/zoned-time.js';
import type { SpecFile } from '../parse/parse-file.js';
import { didYouMean, quotedList } from '../parse/suggest.js';

export interface WrittenRamp {
  readonly file: SpecFile;
  readonly path: readonly (string | number)[];
  readonly spec: RampSpec;
  readonly rule: number | null;
  readonly written: readonly Bucket[];
  readonly known: Pick<DesiredRamp, 'key' | 'matchers' | 'nth'>;
  /** Names in bucket order. */
  readonly treatments: readonly string[];
  readonly defaultTreatment: string;
}

/** Identifies a rule's ramp between runs, wherever the rule stands. */
export function identityOf(
  rules: readonly Rule[],
  position: number,
  name: string | undefined,
): WrittenRamp['known'] {
  const conditions = (canonicalDefinition({ rules }).rules ?? []).map(({ matchers }) => matchers);
  const matchers = conditions[position] ?? [];
  const own = conditionOf(matchers);
  const nth = conditions.slice(0, position).filter((each) => conditionOf(each) === own).length;
  return { key: rampKey(name, matchers), matchers, nth };
}

/** Reports ramps of one definition that runs could not tell apart. */
export function indistinctRamps(ramps: readonly WrittenRamp[]): Diagnostic[] {
  return ramps.flatMap(({ file, path, known: { key } }, at): Diagnostic[] => {
    if (!ramps.slice(0, at).some(({ known }) => known.key === key)) return [];
    const twice = key.startsWith('rule ')
      ? `two rules with a ramp are named "${key.slice('rule '.length)}"`
      : 'two rules with a ramp have the same condition and no name';
    const message = `${twice}, so that no run can tell their ramps apart: give each rule a \`name\` of its own`;
    return [file.diagnostic('ramp-name', { path }, message)];
  });
}

type Wrong = readonly [path: readonly (string | number)[], message: string];

/** @returns the ramp, or all of its problems. */
export function rampOf(
  of: WrittenRamp,
): { readonly ramp: DesiredRamp } | { readonly diagnostics: readonly Diagnostic[] } {
  const { file, path, spec, rule, written, treatments } = of;
  const isShort = typeof spec === 'string';
  const long: LongRampSpec = isShort ? { steps: spec } : spec;
  const wrong: Wrong[] = [];
  const treatment = long.treatment ?? growingTreatment(of);
  if (treatment === undefined) {
    const choice = `treatment: one of ${quotedList(treatments)}`;
    wrong.push([[], `the ramp does not say which treatment grows (${choice})`]);
  } else if (!treatments.includes(treatment)) {
    const message = `there is no treatment "${treatment}"${didYouMean(treatment, treatments)}`;
    wrong.push([['treatment'], message]);
  }
  const startMs = startOf(long.start, wrong);
  const steps = stepsOf(long.steps, isShort ? [] : ['steps'], wrong);
  const { within, hold = false, onFail = 'hold' } = long;
  const checks = checksOf(spec);
  if (onFail !== 'hold' && checks.length === 0) {
    wrong.push([
      ['onFail'],
      'no check can fail here: name one (check: NAME), or take `onFail` out',
    ]);
  }
  if (wrong.length === 0 && treatment !== undefined) {
    wrong.push(...notGrowing(steps, shareOf(written, treatment), isShort ? [] : ['steps']));
  }
  if (wrong.length > 0 || treatment === undefined) {
    return {
      diagnostics: wrong.map(([member, message]) =>
        file.diagnostic('ramp-steps', { path: [...path, ...member] }, message),
      ),
    };
  }
  return {
    ramp: {
      ...{ ...of.known, rule, treatment, order: treatments, written, steps, hold },
      ...present({ startMs, within }),
      ...(checks.length > 0 && { checks }),
      ...(onFail !== 'hold' && { onFail }),
    },
  };
}

function startOf(start: LongRampSpec['start'], wrong: Wrong[]): number | undefined {
  const startMs = start === undefined ? undefined : parseMoment(start);
  if (start === undefined || startMs !== undefined) return startMs;
  const message =
    start === 'signal'
      ? 'no signal starts a ramp: write `hold: true`, and merge `hold: false` when it may begin'
      : noMoment(start);
  wrong.push([['start'], message]);
  return undefined;
}

/** The treatment that is not the default, if there are two; undefined if there are more. */
function growingTreatment({ treatments, defaultTreatment }: WrittenRamp): string | undefined {
  const others = treatments.filter((each) => each !== defaultTreatment);
  return others.length === 1 ? others[0] : undefined;
}

function noMoment(text: string): string {
  return `"${text}" is no time with its offset (2026-11-24T09:00Z or 2026-11-24T09:00+01:00 is expected)`;
}

function stepsOf(
  spec: LongRampSpec['steps'],
  path: readonly string[],
  wrong: Wrong[],
): readonly RampStep[] {
  if (typeof spec === 'string') return shortSteps(spec, path, wrong);
  return spec.flatMap(({ percent, at, after }, position): RampStep[] => {
    const afterMs = after === undefined ? 0 : (durationMs(after) ?? 0);
    if (at === undefined) return [{ percent, afterMs }];
    const atMs = parseMoment(at);
    if (atMs !== undefined && after === undefined) return [{ percent, atMs, afterMs }];
    const message = atMs === undefined ? noMoment(at) : 'a step has `at` or `after`, not both';
    wrong.push([[...path, position, 'at'], message]);
    return [];
  });
}

/** `10, 6h, 25, 1d, 100`: percentages with the time between them. */
function shortSteps(text: string, path: readonly string[], wrong: Wrong[]): readonly RampStep[] {
  const steps: RampStep[] = [];
  let afterMs: number | undefined;
  for (const word of text.split(',').map((each) => each.trim())) {
    const ms = durationMs(word);
    const percent = /^(?:[1-9]\d?|100)$/.test(word) ? Number(word) : undefined;
    const isWanted = ms === undefined ? percent !== undefined : afterMs === undefined;
    if (!isWanted || (ms === undefined && afterMs === undefined && steps.length > 0)) {
      const form = 'percentages with a time between them, such as 10, 6h, 25, 1d, 100';
      wrong.push([path, `"${text}" is no ramp: ${form}, are expected`]);
      return [];
    }
    if (ms !== undefined) afterMs = ms;
    else if (percent !== undefined) {
      steps.push({ percent, afterMs: afterMs ?? 0 });
      afterMs = undefined;
    }
  }
  if (afterMs === undefined) return steps;
  wrong.push([path, `"${text}" ends with a time; a percentage is expected after it`]);
  return [];
}

/** Of `90m`, `12h`, `7d`; undefined for other texts. */
function durationMs(text: string): number | undefined {
  return /^[1-9]\d{0,4}[mhd]$/.test(text) ? parseDuration(text) : undefined;
}

function notGrowing(
  steps: readonly RampStep[],
  writtenShare: number,
  path: readonly (string | number)[],
): Wrong[] {
  const [first] = steps;
  if (first && first.percent < writtenShare) {
    const message = `the first step is ${first.percent} %, and ${writtenShare} % are written: a ramp grows`;
    return [[path, message]];
  }
  const fall = steps.findIndex(({ percent }, at) => percent <= (steps[at - 1]?.percent ?? 0));
  const [step, before] = [steps[fall], steps[fall - 1]];
  if (!step || !before) return [];
  const message = `step ${fall + 1} is ${step.percent} % after ${before.percent} %: a ramp grows with each step`;
  return [[path, message]];
}

function checksOf(spec: RampSpec): readonly string[] {
  const { check = [] } = typeof spec === 'string' ? {} : spec;
  return typeof check === 'string' ? [check] : check;
}

/** Windows and checks that flagkeel.yaml does not have. */
export function rampDiagnostics(
  flags: Iterable<{
    readonly environments: ReadonlyMap<string, { readonly ramps: readonly WrittenRamp[] }>;
  }>,
  config: Pick<Config, 'windows' | 'checks'> | undefined,
): Diagnostic[] {
  if (config === undefined) return [];
  const windows = (config.windows ?? []).map(({ name }) => name);
  const checks = (config.checks ?? []).map(({ name }) => name);
  const ramps = [...flags].flatMap(({ environments }) =>
    [...environments.values()].flatMap((each) => each.ramps),
  );
  return ramps.flatMap(({ file, path, spec }): Diagnostic[] => {
    const { within = [] } = typeof spec === 'string' ? {} : spec;
    const at = (member: string) => ({ path: [...path, member] });
    return [
      ...[within].flat().flatMap((each) => file.unknownName('window', each, windows, at('within'))),
      ...checksOf(spec).flatMap((each) => file.unknownName('check', each, checks, at('check'))),
    ];
  });
}

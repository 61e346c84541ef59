import type { LongRampSpec, RampSpec } from '../../generated/flag.schema.d.js';
import { present } from '../../model/collections.js';
import { parseDuration } from '../../platform/clock.js';
import type { Config } from '../../model/desired.js';
import type { Diagnostic, SpecPath } from '../../model/diagnostic.js';
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
  readonly path: SpecPath;
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

/** @returns the ramp; undefined if it is wrong, which adds to the diagnostics. */
export function rampOf(of: WrittenRamp, diagnostics: Diagnostic[]): DesiredRamp | undefined {
  const { file, path, spec, rule, written, treatments } = of;
  const before = diagnostics.length;
  const fail = (inside: SpecPath, message: string): void => {
    diagnostics.push(file.diagnostic('ramp-steps', { path: [...path, ...inside] }, message));
  };
  const isShort = typeof spec === 'string';
  const failSteps: FailSteps = (message, ...inside) => {
    fail(isShort ? inside : ['steps', ...inside], message);
  };
  const long: LongRampSpec = isShort ? { steps: spec } : spec;
  const treatment = long.treatment ?? growingTreatment(of);
  if (treatment === undefined) {
    const choice = `treatment: one of ${quotedList(treatments)}`;
    fail([], `the ramp does not say which treatment grows (${choice})`);
  } else if (!treatments.includes(treatment)) {
    const message = `there is no treatment "${treatment}"${didYouMean(treatment, treatments)}`;
    fail(['treatment'], message);
  }
  const { start, within, hold = false, onFail = 'hold' } = long;
  const startMs = start === undefined ? undefined : parseMoment(start);
  if (start !== undefined && startMs === undefined) fail(['start'], noStart(start));
  const steps = stepsOf(long.steps, failSteps);
  const checks = checksOf(spec);
  if (onFail !== 'hold' && checks.length === 0) {
    fail(['onFail'], 'no check can fail here: name one (check: NAME), or take `onFail` out');
  }
  if (treatment === undefined || diagnostics.length > before) return undefined;
  const fall = fallIn(steps, shareOf(written, treatment));
  if (fall !== undefined) {
    failSteps(fall);
    return undefined;
  }
  const ramp = { ...of.known, rule, treatment, order: treatments, written, steps, hold };
  return {
    ...ramp,
    ...present({ startMs, within }),
    ...(checks.length > 0 && { checks }),
    ...(onFail !== 'hold' && { onFail }),
  };
}

type FailSteps = (message: string, ...inside: SpecPath) => void;

function noStart(start: string): string {
  return start === 'signal'
    ? 'no signal starts a ramp: write `hold: true`, and merge `hold: false` when it may begin'
    : noMoment(start);
}

/** The treatment that is not the default, if there are two; undefined if there are more. */
function growingTreatment({ treatments, defaultTreatment }: WrittenRamp): string | undefined {
  const others = treatments.filter((each) => each !== defaultTreatment);
  return others.length === 1 ? others[0] : undefined;
}

function noMoment(text: string): string {
  return `"${text}" is no time with its offset (2026-11-24T09:00Z or 2026-11-24T09:00+01:00 is expected)`;
}

function stepsOf(spec: LongRampSpec['steps'], fail: FailSteps): readonly RampStep[] {
  if (typeof spec === 'string') return shortSteps(spec, fail);
  return spec.flatMap(({ percent, at, after }, position): RampStep[] => {
    const afterMs = after === undefined ? 0 : (durationMs(after) ?? 0);
    if (at === undefined) return [{ percent, afterMs }];
    const atMs = parseMoment(at);
    if (atMs !== undefined && after === undefined) return [{ percent, atMs, afterMs }];
    const message = atMs === undefined ? noMoment(at) : 'a step has `at` or `after`, not both';
    fail(message, position, 'at');
    return [];
  });
}

/** `10, 6h, 25, 1d, 100`: percentages with the time between them. */
function shortSteps(text: string, fail: FailSteps): readonly RampStep[] {
  const steps: RampStep[] = [];
  let afterMs: number | undefined;
  for (const word of text.split(',').map((each) => each.trim())) {
    const ms = durationMs(word);
    const percent = /^(?:[1-9]\d?|100)$/.test(word) ? Number(word) : undefined;
    const isWanted = ms === undefined ? percent !== undefined : afterMs === undefined;
    if (!isWanted || (ms === undefined && afterMs === undefined && steps.length > 0)) {
      const form = 'percentages with a time between them, such as 10, 6h, 25, 1d, 100';
      fail(`"${text}" is no ramp: ${form}, are expected`);
      return [];
    }
    if (ms !== undefined) afterMs = ms;
    else if (percent !== undefined) {
      steps.push({ percent, afterMs: afterMs ?? 0 });
      afterMs = undefined;
    }
  }
  if (afterMs !== undefined) fail(`"${text}" ends with a time; a percentage is expected after it`);
  return steps;
}

/** Of `90m`, `12h`, `7d`; undefined for other texts. */
function durationMs(text: string): number | undefined {
  return /^[1-9]\d{0,4}[mhd]$/.test(text) ? parseDuration(text) : undefined;
}

/** Where steps do not grow; undefined if they do. */
function fallIn(steps: readonly RampStep[], writtenShare: number): string | undefined {
  const [first] = steps;
  if (first && first.percent < writtenShare) {
    return `the first step is ${first.percent} %, and ${writtenShare} % are written: a ramp grows`;
  }
  const fall = steps.findIndex(({ percent }, at) => percent <= (steps[at - 1]?.percent ?? 0));
  const [step, before] = [steps[fall], steps[fall - 1]];
  return step && before
    ? `step ${fall + 1} is ${step.percent} % after ${before.percent} %: a ramp grows with each step`
    : undefined;
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

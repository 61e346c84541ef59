import type { SpecTestCase } from '../generated/spec-test.schema.d.js';
import type { Desired } from '../model/desired.js';
import type { Diagnostic } from '../model/diagnostic.js';
import { evaluate, type Answer, type Situation } from '../plan/impact/evaluate.js';
import type { SpecParts } from '../specs/read-specs.js';
import { validOf } from '../specs/resolve/spec-set.js';
import { desiredUndelayed, type Startless } from '../timing/desired-at.js';

export interface CaseResult {
  readonly file: string;
  readonly flag: string;
  readonly environment: string;
  readonly name: string;
  /** At its place in the file. A passed case has none. */
  readonly failure?: Diagnostic;
}

/** Runs every case of `tests/`, in order, against valid specs alone: with no clock but the moment that a case names. */
export function runSpecTests(desired: Desired, { specs }: SpecParts): CaseResult[] {
  const files = validOf(specs.loaded, 'spec-test');
  return files.flatMap(({ file, spec }) =>
    spec.cases.map((each, position): CaseResult => {
      const fault = faultOf(spec.tests, each, desired);
      const { name, environment } = each;
      const place = { path: ['cases', position, fault?.member ?? 'expect'] };
      return {
        file: file.path,
        flag: spec.tests,
        environment,
        name,
        ...(fault && {
          failure: file.diagnostic('spec-test-failed', place, `${name}: ${fault.message}`),
        }),
      };
    }),
  );
}

interface CaseFault {
  readonly member: 'environment' | 'segments' | 'when' | 'started' | 'seed' | 'expect';
  readonly message: string;
}

function faultOf(flag: string, each: SpecTestCase, desired: Desired): CaseFault | undefined {
  const { environment, segments = [], expect } = each;
  const declared = [...desired.segments.keys(), ...desired.config.references.segments];
  const stranger = segments.find((name) => !declared.includes(name));
  if (stranger !== undefined) {
    const message = `no segment "${stranger}" is declared here or in references`;
    return { member: 'segments', message };
  }
  const untold = untoldMoment(flag, each, desired) ?? untoldSeed(each);
  if (untold) return untold;
  const answer = evaluate(
    atMoment(each, desired, 'before'),
    { flag, environment },
    situationOf(flag, each),
  );
  if (!answer) {
    const message = `flag "${flag}" is not declared for environment "${environment}"`;
    return { member: 'environment', message };
  }
  if (isMet(expect, answer)) return undefined;
  return { member: 'expect', message: `expected ${expectedText(expect)}, got ${gotText(answer)}` };
}

function situationOf(flag: string, each: SpecTestCase): Situation {
  const { seed, trafficAllocationSeed: allocationSeed } = each;
  if (seed === undefined || allocationSeed === undefined) return each;
  return { ...each, seeds: new Map([[flag, { seed, allocationSeed }]]) };
}

/** Without this, a seed would seem to decide where it says nothing. */
function untoldSeed({ key, seed, trafficAllocationSeed }: SpecTestCase): CaseFault | undefined {
  if (seed === undefined && trafficAllocationSeed === undefined) return undefined;
  const missing = Object.entries({ key, seed, trafficAllocationSeed });
  const [name] = missing.find(([, value]) => value === undefined) ?? [];
  const message = `a seed gives a key its bucket, so that the case needs \`${name ?? ''}\` too`;
  return name === undefined ? undefined : { member: 'seed', message };
}

/** A day stands for its first moment in UTC. */
function atMoment({ when, started }: SpecTestCase, desired: Desired, unknown: Startless): Desired {
  const startless = started === undefined ? unknown : Date.parse(started);
  return when === undefined ? desired : desiredUndelayed(desired, Date.parse(when), startless);
}

/** Without this, a case with a moment would pass on the assumption that a ramp still stands at its beginning. */
function untoldMoment(flag: string, each: SpecTestCase, desired: Desired): CaseFault | undefined {
  const { environment, when, started } = each;
  if (when === undefined) {
    const message = '`started` is the beginning of ramps, and says nothing without `when`';
    return started === undefined ? undefined : { member: 'started', message };
  }
  const answers = (['before', 'end'] as const).map((startless) =>
    evaluate(atMoment(each, desired, startless), { flag, environment }, situationOf(flag, each)),
  );
  const [before, after] = answers.map((answer) => answer && sharesText(answer));
  if (before === after) return undefined;
  const message = `a ramp that it depends on begins with the run that first sees it, so that no file tells where it is then (say when it \`started\`, or give the ramp a \`start\`)`;
  return { member: 'when', message };
}

/** A distribution has to match to the per cent; a treatment, or one of several, has to be certain. */
function isMet(expect: SpecTestCase['expect'], { shares, isCertain }: Answer): boolean {
  if (typeof expect === 'string') return shares.get(expect)?.least === 100;
  if (Array.isArray(expect)) {
    return [...shares.keys()].every((served) => served !== null && expect.includes(served));
  }
  const names = new Set([...Object.keys(expect), ...[...shares.keys()].map(String)]);
  return (
    isCertain && [...names].every((name) => (shares.get(name)?.least ?? 0) === (expect[name] ?? 0))
  );
}

function expectedText(expect: SpecTestCase['expect']): string {
  if (typeof expect === 'string') return `"${expect}"`;
  if (Array.isArray(expect)) return expect.map((name) => `"${name}"`).join(' or ');
  return Object.entries(expect)
    .map(([name, size]) => `"${name}" ${size} %`)
    .join(', ');
}

function gotText(answer: Answer): string {
  const untold = answer.isCertain ? [] : answer.untold;
  const missing = untold.length === 0 ? '' : `; the case does not tell ${untold.join(', ')}`;
  return `${sharesText(answer)}${missing}`;
}

/** `"on" 10 %, "off" 90 %`; a range of two numbers where the share is not exact. */
function sharesText({ shares }: Answer): string {
  return [...shares]
    .toSorted(([, a], [, b]) => b.most - a.most)
    .map(([served, { least, most }]) => {
      const range = least === most ? `${least}` : `${least} to ${most}`;
      return `${served === null ? 'control' : `"${served}"`} ${range} %`;
    })
    .join(', ');
}

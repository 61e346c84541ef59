import type { Evaluator } from './proof-world.js';
import type { Case, SdkProcess } from './sdk-process.js';

export interface Comparison {
  /** Flags times cases. */
  readonly evaluations: number;
  readonly differences: readonly string[];
  readonly distinct: number;
  readonly seconds: number;
}

const CASES_AT_ONCE = 500;
const DIFFERENCES_SHOWN = 10;

/** Asks an SDK and our evaluator about every flag and case, and compares treatment and configuration. */
export async function compare(
  sdk: SdkProcess,
  evaluator: Evaluator,
  cases: Iterable<Case>,
): Promise<Comparison> {
  const { flags } = evaluator;
  const begun = performance.now();
  const differences: string[] = [];
  const seen = new Set<string>();
  let evaluations = 0;
  for (const part of parts(cases)) {
    const answers = await sdk.evaluate(flags, part);
    for (const [index, each] of part.entries()) {
      const own = evaluator.evaluate(flags, each);
      for (const [at, flag] of flags.entries()) {
        const theirs = answers[index]?.[at];
        evaluations += 1;
        seen.add(`${flag} ${own[at]?.[0] ?? ''}`);
        if (JSON.stringify(theirs) === JSON.stringify(own[at])) continue;
        differences.push(
          `${flag} ${JSON.stringify(each)}: SDK ${JSON.stringify(theirs)}, own ${JSON.stringify(own[at])}`,
        );
      }
    }
  }
  const seconds = Math.round((performance.now() - begun) / 100) / 10;
  return { evaluations, differences, distinct: seen.size, seconds };
}

function* parts(cases: Iterable<Case>): Generator<Case[]> {
  let part: Case[] = [];
  for (const each of cases) {
    part.push(each);
    if (part.length < CASES_AT_ONCE) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

export function comparisonText(name: string, readyMs: number, found: Comparison): string {
  const { evaluations, differences, distinct, seconds } = found;
  const first = differences.slice(0, DIFFERENCES_SHOWN).map((each) => `  ${each}\n`);
  const counts = `${evaluations} evaluations, ${distinct} pairs of flag and treatment`;
  return `${name}: ready in ${readyMs} ms; ${counts}, ${differences.length} differences, ${seconds} s\n${first.join('')}`;
}

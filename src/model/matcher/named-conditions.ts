import type { ConditionSpec } from '../../generated/flag.schema.d.js';
import type { Matcher } from '../flag/flag.js';
import { invalid, valid, type Checked, type SpecFault, type SpecPath } from '../diagnostic.js';
import { matcherOf } from './from-condition.js';

/** Named conditions: the matchers that each stands for, which must all hold, in canonical form. */
export type NamedConditions = ReadonlyMap<string, readonly Matcher[]>;

export const NO_CONDITIONS: NamedConditions = new Map();

/**
 * The matchers that a condition stands for, one unless it uses a name.
 *
 * @param named null where the config is unreadable; a condition that uses a name then stands for no matcher.
 */
export function matchersOf(
  condition: ConditionSpec,
  named: NamedConditions | null,
): Checked<readonly Matcher[]> {
  const { use, not } = condition;
  if (use === undefined) {
    const matcher = matcherOf(condition);
    return matcher.ok ? valid([matcher.value]) : matcher;
  }
  const other = Object.keys(condition).find((member) => member !== 'use' && member !== 'not');
  if (other !== undefined) {
    return fault([other], `"${other}" does not go with "use": write a condition of its own`);
  }
  if (named === null) return valid([]);
  const matchers = named.get(use);
  if (matchers === undefined) return invalid(unknownName(use, named));
  return not === true ? turned(use, matchers) : valid(matchers);
}

/** Refuses to negate a name with several matchers: no single rule can express "not both". */
function turned(name: string, matchers: readonly Matcher[]): Checked<readonly Matcher[]> {
  const [only, second] = matchers;
  if (second !== undefined) {
    const message = `"${name}" stands for ${matchers.length} conditions, which "not" cannot turn round together`;
    return fault(['not'], message);
  }
  if (only === undefined) return valid([]);
  const { negate, ...positive } = only;
  return valid([negate === true ? positive : { ...positive, negate: true }]);
}

function fault(path: SpecPath, message: string): Checked<never> {
  return invalid({ code: 'condition-shape', path, at: 'key', message });
}

function unknownName(name: string, named: NamedConditions): SpecFault {
  return {
    code: 'unknown-condition',
    path: ['use'],
    at: 'value',
    message: `flagkeel.yaml has no condition "${name}"`,
    unknown: { name, candidates: [...named.keys()] },
  };
}

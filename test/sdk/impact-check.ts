import type { WireDefinition, WireMatcher } from '../../src/admin-api/wire.js';
import type { FlagImpact } from '../../src/generated/plan.schema.js';
import { liesIn } from '../support/sampling.js';
import type { Pair } from './sdk-process.js';

/** What an SDK was served from. */
export interface ServedWorld {
  readonly definitions: ReadonlyMap<string, WireDefinition>;
  readonly segments: ReadonlyMap<string, ReadonlySet<string>>;
}

/** What an SDK served a key before and after. */
export interface Moved {
  readonly key: string;
  readonly from: Pair;
  readonly to: Pair;
}

/** Figures of a plan that were compared with an SDK. */
export interface Compared {
  /** Shares of the traffic, and numbers of listed keys. */
  readonly shares: number;
  readonly numbers: number;
  /** Numbers that the plan calls certain. */
  readonly certain: number;
  /** Keys of these numbers that the plan names. */
  readonly named: number;
  readonly moved: number;
  readonly problems: readonly string[];
}

/** Holds what a plan says of flags against what an SDK serves, before and after. */
export class ImpactCheck {
  readonly #before: ServedWorld;
  readonly #after: ServedWorld;
  readonly #problems: string[] = [];
  #shares = 0;
  #numbers = 0;
  #certain = 0;
  #named = 0;
  #moved = 0;

  constructor(before: ServedWorld, after: ServedWorld) {
    this.#before = before;
    this.#after = after;
  }

  get result(): Compared {
    return {
      ...{ shares: this.#shares, numbers: this.#numbers, certain: this.#certain },
      ...{ named: this.#named, moved: this.#moved, problems: this.#problems },
    };
  }

  /** @param impact undefined where the plan says that the flag serves every key as before. */
  whole(flag: string, impact: FlagImpact | undefined, served: readonly Moved[]): void {
    const listed = this.#listedFor(flag);
    const ofTraffic = served.filter(({ key }) => !listed.has(key));
    const ofLists = served.filter(({ key }) => listed.has(key));
    this.#moved += served.filter(isMove).length;
    if (impact === undefined) {
      for (const each of served.filter(isMove)) this.#fail(flag, `${wordsOf(each)} is not told`);
      return;
    }
    if (impact.listed !== listed.size) {
      this.#fail(flag, `${listed.size} listed keys, ${impact.listed} in the plan`);
    }
    this.#keys(flag, impact, ofLists);
    this.#traffic(flag, impact, ofTraffic);
  }

  /** The part of an impact that a segment brings about by the keys that it gains and loses. */
  segment(name: string, flag: string, impact: FlagImpact, served: readonly Moved[]): void {
    const [before, after] = [this.#before, this.#after].map(({ segments }) => segments.get(name));
    const changed = served.filter(({ key }) => before?.has(key) !== after?.has(key));
    if (impact.listed !== changed.length) {
      this.#fail(flag, `${changed.length} changed keys, ${impact.listed} in the plan`);
    }
    this.#keys(`${flag} by ${name}`, impact, changed);
  }

  #keys(flag: string, { keys, moves, bounded }: FlagImpact, served: readonly Moved[]): void {
    if (bounded) return;
    const all = served.filter(isMove);
    for (const { figure, of, what, names } of [
      { figure: keys, of: all, what: 'all', names: [] },
      ...moves.map(({ from, to, keys: figure, names = [] }) => {
        const of = all.filter((each) => each.from[0] === nameOf(from) && each.to[0] === nameOf(to));
        return { figure, of, what: `${nameOf(from)} → ${nameOf(to)}`, names };
      }),
    ]) {
      this.#numbers += 1;
      const isWithin = figure.atLeast <= of.length && of.length <= figure.atMost;
      if (!isWithin) this.#fail(flag, `${of.length} keys ${what}, ${JSON.stringify(figure)}`);
      if (!figure.certain) continue;
      this.#certain += 1;
      this.#named += names.length;
      const found = new Set(of.map(({ key }) => key));
      const wrong = names.filter((key) => !found.has(key));
      if (wrong.length > 0) this.#fail(flag, `${what}: ${wrong.join()} named, and not moved`);
    }
    const told = new Set(moves.map(({ from, to }) => `${nameOf(from)} → ${nameOf(to)}`));
    for (const each of all) {
      if (!told.has(wordsOf(each))) this.#fail(flag, `${wordsOf(each)} of a key is not told`);
    }
  }

  #traffic(flag: string, { traffic, moves, bounded }: FlagImpact, served: readonly Moved[]): void {
    if (bounded) return;
    const all = served.filter(isMove);
    const check = (what: string, count: number, figure: FlagImpact['traffic']): void => {
      this.#shares += 1;
      if (liesIn(count, figure, served.length)) return;
      this.#fail(flag, `${what}: ${count} of ${served.length}, ${JSON.stringify(figure)}`);
    };
    check('all', all.length, traffic);
    for (const move of moves) {
      const words = `${nameOf(move.from)} → ${nameOf(move.to)}`;
      check(words, all.filter((each) => wordsOf(each) === words).length, move.traffic);
    }
    const told = moves.filter(({ traffic: { atMost } }) => atMost > 0);
    const words = new Set(told.map(({ from, to }) => `${nameOf(from)} → ${nameOf(to)}`));
    for (const each of all) {
      if (!words.has(wordsOf(each))) this.#fail(flag, `${wordsOf(each)} of traffic is not told`);
    }
  }

  #fail(flag: string, problem: string): void {
    this.#problems.push(`${flag}: ${problem}`);
  }

  /** The keys that a list holds on which the flag depends; a killed definition looks at none. */
  #listedFor(flag: string): Set<string> {
    const keys = new Set<string>();
    const seen = new Set<string>();
    const add = (more: Iterable<string>): void => {
      for (const key of more) keys.add(key);
    };
    const addSegment = (name: string): void => {
      for (const { segments } of [this.#before, this.#after]) add(segments.get(name) ?? []);
    };
    const visitMatcher = ({ type, string, strings, attribute, depends }: WireMatcher): void => {
      if (type === 'IN_SEGMENT') addSegment(String(string));
      if (type === 'IN_SPLIT') visit((depends as { splitName: string }).splitName);
      if (type === 'IN_LIST_STRING' && attribute === undefined) add(strings as string[]);
    };
    const visit = (name: string): void => {
      if (seen.has(name)) return;
      seen.add(name);
      for (const { definitions } of [this.#before, this.#after]) {
        const definition = definitions.get(name);
        if (definition === undefined || definition.killed) continue;
        for (const { keys: targets = [], segments = [] } of definition.treatments) {
          add(targets);
          segments.forEach(addSegment);
        }
        for (const { condition } of definition.rules) condition.matchers.forEach(visitMatcher);
      }
    };
    visit(flag);
    return keys;
  }
}

const nameOf = (treatment: string | null): string => treatment ?? 'control';
const wordsOf = ({ from, to }: Moved): string => `${from[0]} → ${to[0]}`;

/** Configurations of equal meaning may be written otherwise. */
function isMove({ from, to }: Moved): boolean {
  const [old, now] = [from, to].map(([, text]) => JSON.stringify(JSON.parse(text ?? 'null')));
  return from[0] !== to[0] || old !== now;
}

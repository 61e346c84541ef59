import type { LintLevel, LintSpec } from '../generated/config.schema.d.js';
import type { Buckets } from '../generated/flag.schema.d.js';
import type { SpecPath } from '../model/diagnostic.js';
import type { Config, DesiredDefinition } from '../model/desired.js';
import type { Bucket, Matcher } from '../model/flag/flag.js';
import type { LintCode } from '../specs/codes.js';
import type { StrayFile } from '../specs/parse/load-files.js';
import type { SpecFile } from '../specs/parse/parse-file.js';
import type { SpecParts } from '../specs/read-specs.js';
import { matcherPaths } from '../specs/resolve/conditions.js';
import type { ResolvedDefinition } from '../specs/resolve/definition.js';
import type { ResolvedFlag } from '../specs/resolve/flags.js';
import type { SpecSet } from '../specs/resolve/spec-set.js';

/** `docs/lint.md` has the reasons of rules, and how to fix a finding. */
export interface LintRule<Subject = never> {
  readonly code: LintCode;
  /** Default, where `lint.levels` of flagkeel.yaml does not name the rule. */
  readonly level: LintLevel;
  readonly find: (subject: Subject, report: Report) => void;
}

/** @param place or the path of a file that is not parsed. @param message values in quotes; ends with the remedy. */
export type Report = (place: Place | string, message: string) => void;

export interface Place {
  readonly file: SpecFile;
  readonly path: SpecPath;
  readonly at?: 'key';
}

export interface LintedRepository extends SpecParts {
  readonly config: Config;
  readonly configFile: SpecFile;
  readonly settings: LintSpec;
  /** UTC day, `YYYY-MM-DD`. */
  readonly today: string;
  readonly strays: readonly StrayFile[];
  /** By path; empty where no history is known, or the caller did not compute it. */
  readonly ages: ReadonlyMap<string, FileAge>;
  /** With the UTC day of removal, `YYYY-MM-DD`; may be empty like `ages`. */
  readonly removals: ReadonlyMap<string, string>;
  /** Names that code mentions; null where no repository is known, or the caller did not compute it. */
  readonly inCode: NamesInCode | null;
  /** Flags by name, as in the last commit that differs from the specs under check; may be empty like `ages`. */
  readonly before: ReadonlyMap<string, ResolvedFlag>;
}

export const DAY_MS = 86_400_000;

/** Days are UTC, `YYYY-MM-DD`. */
export interface FileAge {
  readonly addedOn: string;
  readonly changedOn: string;
}

/** Of flags, in the code of `lint.codeReferences`; see `namesInCode`. */
interface NamesInCode {
  readonly found: ReadonlySet<string>;
  /** Paths that cannot be searched. If there is one, none was searched. */
  readonly refused: readonly { readonly path: string; readonly why: string }[];
}

export interface LintedDefinition {
  readonly repository: LintedRepository;
  readonly flag: ResolvedFlag;
  readonly environment: string;
  readonly definition: DesiredDefinition;
  /** As written, with its place in the file that says it. */
  readonly rules: ResolvedDefinition['rules'];
  readonly defaultRule: (Place & { readonly written: Buckets }) | undefined;
  readonly block: Place;
  /** By the rules, and last by the default rule. */
  readonly served: readonly Served[];
}

interface Served {
  /** From 0; null for the default rule. */
  readonly rule: number | null;
  readonly buckets: readonly Bucket[];
  /** As the file has it; undefined where it is unclear which file says it. */
  readonly written: Buckets | undefined;
}

/** Offline, lint cannot ask the service. */
export function isProtected({ repository, environment }: LintedDefinition): boolean {
  const { environments } = repository.config;
  return environments.some((each) => each.name === environment && each.protected === true);
}

/** Rules count from 0. The block if it is unclear which file has the rules. */
export function placeOfRule(
  { rules, block }: LintedDefinition,
  position: number,
  path: SpecPath = [],
): Place {
  return rules ? { file: rules.file, path: [...rules.path, position, ...path] } : block;
}

/** @param find gets a function for the place: the name of the condition if the rule uses it by name. */
export function eachCondition(
  subject: LintedDefinition,
  find: (matcher: Matcher, place: () => Place, earlier: readonly Matcher[]) => void,
): void {
  for (const [position, { matchers }] of subject.definition.creation.rules.entries()) {
    for (const [at, matcher] of matchers.entries()) {
      const place = (): Place => {
        const rule = subject.rules?.value[position];
        const path = rule && matcherPaths(rule, subject.rules.named)[at];
        return placeOfRule(subject, position, path ?? ['if']);
      };
      find(matcher, place, matchers.slice(0, at));
    }
  }
}

/** @param name of a segment without errors. */
export function placeOfSegment(specs: SpecSet, name: string, path: SpecPath): Place {
  const file = specs.named.segment.get(name)?.file;
  if (file === undefined) throw new Error(`bug: segment "${name}" has no file`);
  return { file, path };
}

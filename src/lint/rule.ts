import type { LintLevel, LintSpec } from '../generated/config.schema.d.js';
import type { Buckets } from '../generated/flag.schema.d.js';
import type { Config, DesiredDefinition } from '../model/desired.js';
import type { Matcher } from '../model/flag/flag.js';
import type { SpecPath } from '../model/diagnostic.js';
import type { LintCode } from '../specs/codes.js';
import type { StrayFile } from '../specs/parse/load-files.js';
import type { SpecFile } from '../specs/parse/parse-file.js';
import type { SpecParts } from '../specs/read-specs.js';
import { matcherPaths } from '../specs/resolve/conditions.js';
import type { ResolvedDefinition } from '../specs/resolve/definition.js';
import type { ResolvedFlag } from '../specs/resolve/flags.js';

/** `docs/lint.md` has the reasons of rules, and how to fix a finding. */
export interface LintRule {
  readonly code: LintCode;
  /** Default, where `lint.levels` of flagkeel.yaml does not name the rule. */
  readonly level: LintLevel;
}

export interface DefinitionRule extends LintRule {
  readonly find: (subject: LintedDefinition, repository: LintedRepository) => readonly Finding[];
}

export interface RepositoryRule extends LintRule {
  readonly find: (repository: LintedRepository) => readonly Finding[];
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
  readonly flag: ResolvedFlag;
  readonly environment: string;
  readonly definition: DesiredDefinition;
  /** As written, with its place in the file that says it. */
  readonly rules: ResolvedDefinition['rules'];
  readonly defaultRule: (Place & { readonly written: Buckets }) | undefined;
  readonly block: Place;
}

export interface Place {
  readonly file: SpecFile;
  readonly path: SpecPath;
  readonly at?: 'key';
}

export interface Finding {
  readonly place: Place | { readonly strayPath: string };
  /** Values in quotes; ends with the remedy. */
  readonly message: string;
  /** The file whose `allow` may permit it. Without one the finding cannot be allowed. */
  readonly allowedBy?: SpecFile;
}

/** Offline, lint cannot ask the service. */
export function isProtected({ environments }: Config, environment: string): boolean {
  return environments.some((each) => each.name === environment && each.protected === true);
}

/** Rules count from 0. Placed at the block if it is unclear which file has the rules. */
export function ofRule(
  { flag, rules, block }: LintedDefinition,
  position: number,
  path: SpecPath,
  message: string,
): Finding {
  const place = rules ? { file: rules.file, path: [...rules.path, position, ...path] } : block;
  return { place, message, allowedBy: flag.file };
}

/** Placed at the name if the rule uses the condition by name. */
function ofCondition(
  subject: LintedDefinition,
  position: number,
  condition: number,
  message: string,
): Finding {
  const rule = subject.rules?.value[position];
  const path = rule && matcherPaths(rule, subject.rules.named)[condition];
  return ofRule(subject, position, path ?? ['if'], message);
}

export function ofBlock({ flag, block }: LintedDefinition, message: string): Finding {
  return { place: block, message, allowedBy: flag.file };
}

export function eachCondition(
  subject: LintedDefinition,
  messageOf: (matcher: Matcher, at: number, others: readonly Matcher[]) => string | undefined,
): Finding[] {
  return subject.definition.creation.rules.flatMap(({ matchers }, position) =>
    matchers.flatMap((matcher, at) => {
      const message = messageOf(matcher, at, matchers);
      return message === undefined ? [] : [ofCondition(subject, position, at, message)];
    }),
  );
}

export function eachFlag(
  flags: readonly ResolvedFlag[],
  member: 'flag' | 'expires',
  messageOf: (flag: ResolvedFlag) => string | undefined,
): Finding[] {
  return flags.flatMap((flag) => {
    const message = messageOf(flag);
    return message === undefined ? [] : [ofFlag(flag, [member], message)];
  });
}

export function ofFlag(
  { file }: ResolvedFlag,
  path: Place['path'],
  message: string,
  at?: 'key',
): Finding & { allowedBy: SpecFile } {
  return { place: { file, path, ...(at && { at }) }, message, allowedBy: file };
}

/** None where the segment's own file has errors. */
export function ofSegment(
  { segments }: Pick<SpecParts['specs'], 'segments'>,
  name: string,
  path: Place['path'],
  message: string,
): Finding[] {
  const file = segments.get(name)?.file;
  return file === undefined ? [] : [{ place: { file, path }, message, allowedBy: file }];
}

import type { LintSpec } from '../generated/config.schema.d.js';
import type { Buckets } from '../generated/flag.schema.d.js';
import type { Config, DesiredDefinition } from '../model/desired.js';
import type { SpecPath } from '../model/diagnostic.js';
import type { LintCode } from '../specs/codes.js';
import type { SpecFile } from '../specs/parse/parse-file.js';
import type { SpecParts } from '../specs/read-specs.js';
import { writtenMatchers } from '../specs/resolve/conditions.js';
import type { ResolvedDefinition } from '../specs/resolve/definition.js';
import type { ResolvedFlag } from '../specs/resolve/resolved-flag.js';

/** How much is made of what a rule finds; `off`: it is not looked for. */
export type Level = 'off' | 'warning' | 'error';

/** One thing that lint looks for. */
export interface LintRule {
  readonly code: LintCode;
  /** Where `lint.levels` of flagkeel.yaml names none. */
  readonly level: Level;
  /** Why it is worth a word; `docs/lint.md` says it in the same words. */
  readonly reason: string;
  /** What to do about it; likewise. */
  readonly wayOut: string;
  /** The heading of `docs/lint.md` below which the rule stands. */
  readonly section: string;
}

/** A rule about one flag in one environment. */
export interface DefinitionRule extends LintRule {
  readonly find: (subject: LintedDefinition, repository: LintedRepository) => readonly Finding[];
}

/** A rule about anything else. */
export interface RepositoryRule extends LintRule {
  readonly find: (repository: LintedRepository) => readonly Finding[];
}

/** All that rules look at. */
export interface LintedRepository extends SpecParts {
  readonly config: Config;
  readonly settings: LintSpec;
  /** UTC day, `YYYY-MM-DD`. */
  readonly today: string;
  /** Files that look like specs and are not read, and why they are not. */
  readonly strays: readonly StrayFile[];
  /** By path; empty where no history is known, or nobody asked for it. */
  readonly ages: ReadonlyMap<string, FileAge>;
  /** Names of files that were removed, and the UTC day of it, `YYYY-MM-DD`; empty likewise. */
  readonly removals: ReadonlyMap<string, string>;
  /** What code names; null where no repository is known, or nobody asked for it. */
  readonly inCode: NamesInCode | null;
  /** Flags by name, as the last commit has them that is not what is read; empty likewise. */
  readonly before: ReadonlyMap<string, ResolvedFlag>;
}

export const DAY_MS = 86_400_000;

/** What history says of a file. Days are UTC, `YYYY-MM-DD`. */
export interface FileAge {
  readonly addedOn: string;
  readonly changedOn: string;
}

/** Which names of flags stand in the code of `lint.codeReferences`. */
export interface NamesInCode {
  readonly found: ReadonlySet<string>;
  /** Paths of the setting that cannot be searched, and why; where there is one, nothing was. */
  readonly refused: readonly { readonly path: string; readonly why: string }[];
}

/** A file that looks like a spec and lies where none is read. */
export interface StrayFile {
  /** Relative to the config directory. */
  readonly path: string;
  /** Where it belongs. */
  readonly advice: string;
}

/** A flag in one environment, of which nothing is wrong. */
export interface LintedDefinition {
  readonly flag: ResolvedFlag;
  readonly environment: string;
  readonly definition: DesiredDefinition;
  /** The list of rules as written, and its place in whichever file says it. */
  readonly rules: ResolvedDefinition['rules'];
  /** What `defaultRule` says as written, likewise. */
  readonly defaultRule: (Place & { readonly written: Buckets }) | undefined;
  /** Place of the environment's block. */
  readonly block: Place;
}

/** A value in a file, or the key of one. */
export interface Place {
  readonly file: SpecFile;
  readonly path: SpecPath;
  readonly at?: 'key';
}

/** What a rule found. */
export interface Finding {
  readonly place: Place | { readonly strayPath: string };
  /** What is the case, values in quotes; the way out last. */
  readonly message: string;
  /** The file whose `allow` may let it pass; absent: none can. */
  readonly allowedBy?: SpecFile;
}

/** A finding inside of one rule, counted from 0; at the block where nobody can tell which file has the rules. */
export function ofRule(
  { flag, rules, block }: LintedDefinition,
  position: number,
  path: SpecPath,
  message: string,
): Finding {
  const place = rules ? { file: rules.file, path: [...rules.path, position, ...path] } : block;
  return { place, message, allowedBy: flag.file };
}

/** A finding about one condition of a rule, both counted from 0; at the name of those that a rule uses by name. */
export function ofCondition(
  subject: LintedDefinition,
  position: number,
  condition: number,
  message: string,
): Finding {
  const rule = subject.rules?.value[position];
  const written = rule && writtenMatchers(rule, subject.rules.named)[condition];
  return ofRule(subject, position, written?.path ?? ['if'], message);
}

/** A finding in the flag's own file, which can allow it. */
export function ofFlag(
  { file }: ResolvedFlag,
  path: Place['path'],
  message: string,
  at?: 'key',
): Finding & { allowedBy: SpecFile } {
  return { place: { file, path, ...(at && { at }) }, message, allowedBy: file };
}

/** The same for a segment; none where its file is not among the right ones. */
export function ofSegment(
  { segments }: Pick<SpecParts['specs'], 'segments'>,
  name: string,
  path: Place['path'],
  message: string,
): Finding[] {
  const file = segments.get(name)?.file;
  return file === undefined ? [] : [{ place: { file, path }, message, allowedBy: file }];
}

import type { EnvironmentSpec } from '../generated/flag.schema.d.js';
import { grouped, ownMember } from '../model/collections.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { SpecFile } from '../specs/parse/parse-file.js';
import { fileDiagnostic } from '../specs/parse/source-text.js';
import { didYouMean } from '../specs/parse/suggest.js';
import { inOrder, type SpecParts } from '../specs/read-specs.js';
import type { ResolvedFlag } from '../specs/resolve/flags.js';
import { BUCKET_RULES } from './bucket-rules.js';
import { DEFINITION_RULES } from './definition-rules.js';
import { HOUSE_RULES } from './house-rules.js';
import { REPOSITORY_RULES } from './repository-rules.js';
import {
  placeOfSegment,
  type LintedDefinition,
  type LintedRepository,
  type LintRule,
  type Place,
  type Report,
} from './rule.js';

/** Applied last, when it is known which allowances were used. */
const ALLOW_RULES: readonly LintRule<Allowance>[] = [
  {
    code: 'allow-unknown',
    level: 'error',
    find: ({ code, place }, report) => {
      if (!CODES.has(code)) report(place, `there is no rule "${code}"`);
    },
  },
  {
    code: 'allow-without-reason',
    level: 'error',
    find: ({ code, reason, place }, report) => {
      if (!CODES.has(code) || reason !== '') return;
      report(place, `say why "${code}" is allowed in a comment behind it: allow: ${code} # reason`);
    },
  },
  {
    code: 'allow-unused',
    level: 'warning',
    find: ({ code, isUsed, place }, report) => {
      if (CODES.has(code) && !isUsed) report(place, `nothing here needs "${code}" to be allowed`);
    },
  },
];

/** In the order of `docs/lint.md`. */
export const LINT_RULES: readonly LintRule[] = [
  ...DEFINITION_RULES,
  ...BUCKET_RULES,
  ...REPOSITORY_RULES,
  ...HOUSE_RULES,
  ...ALLOW_RULES,
];

const CODES: ReadonlySet<string> = new Set(LINT_RULES.map(({ code }) => code));

/** The caller computes a fact only where a setting asks for a rule that needs it. */
export type LintOptions = Pick<LintedRepository, 'today'> &
  Partial<Pick<LintedRepository, 'strays' | 'ages' | 'removals' | 'before' | 'inCode'>>;

const NOT_ASKED = {
  strays: [],
  ages: new Map(),
  removals: new Map(),
  before: new Map(),
  inCode: null,
} as const;

/**
 * Finds specs that are valid but seldom meant, or against the repository's own rules: by file, line and column, errors
 * first. Skips files with errors, and finds nothing without a readable config. The result depends on no clock.
 */
export function lint(parts: SpecParts, options: LintOptions): Diagnostic[] {
  const { config, loaded } = parts.specs;
  const [configFile] = loaded.files.config;
  if (config === undefined || configFile === undefined) return [];
  const settings = config.lint ?? {};
  const repository = { ...parts, config, configFile, settings, ...NOT_ASKED, ...options };
  const allowances = allowancesIn(parts);
  const diagnostics: Diagnostic[] = [];
  const active = <S>(
    rules: readonly LintRule<S>[],
    allowed: typeof allowances = allowances,
  ): ((subject: S) => void)[] =>
    rules.flatMap(({ code, level, find }) => {
      const severity = settings.levels?.[code] ?? level;
      if (severity === 'off') return [];
      const report: Report = (place, message) => {
        if (typeof place === 'string') {
          diagnostics.push({ ...fileDiagnostic(place, code, message), severity });
          return;
        }
        const allowance = allowed.get(place.file)?.find((each) => each.code === code);
        if (allowance) allowance.isUsed = true;
        else diagnostics.push(place.file.diagnostic(code, { ...place, severity }, message));
      };
      return [
        (subject) => {
          find(subject, report);
        },
      ];
    });
  for (const find of active([...REPOSITORY_RULES, ...HOUSE_RULES])) find(repository);
  const inDefinition = active([...DEFINITION_RULES, ...BUCKET_RULES]);
  for (const each of definitionsOf(repository)) for (const find of inDefinition) find(each);
  // No allowance permits what is wrong with one.
  const ofAllowance = active(ALLOW_RULES, new Map());
  for (const each of [...new Set(allowances.values())].flat())
    for (const find of ofAllowance) find(each);
  return inOrder(diagnostics);
}

function* definitionsOf(repository: LintedRepository): Generator<LintedDefinition> {
  const overlays = new Map(repository.specs.overlays.map((each) => [each.file.path, each]));
  for (const flag of repository.flags) {
    for (const [environment, { definition, rules }] of flag.environments) {
      if (definition === undefined) continue;
      const overlay = overlays.get(definition.location.file);
      const own = overlay ? { ...overlay, path: [] } : blockIn(flag, environment);
      const block: Place = overlay
        ? { file: overlay.file, path: ['environment'] }
        : { file: flag.file, path: own.path, at: 'key' };
      const defaultRule = defaultRuleIn(own) ?? defaultRuleIn(blockIn(flag, '*'));
      const { creation } = definition;
      const served = [
        ...creation.rules.map(({ buckets }, rule) => {
          return { rule, buckets, written: rules?.value[rule]?.serve };
        }),
        { rule: null, buckets: creation.defaultRule, written: defaultRule?.written },
      ];
      yield { repository, flag, environment, definition, rules, defaultRule, block, served };
    }
  }
}

interface Block extends Place {
  readonly spec: EnvironmentSpec | undefined;
}

function blockIn({ file, spec }: ResolvedFlag, environment: string): Block {
  const block = ownMember(spec.environments, environment);
  return { file, path: ['environments', environment], spec: block };
}

function defaultRuleIn({ file, path, spec }: Block): LintedDefinition['defaultRule'] {
  const written = spec?.defaultRule;
  return written === undefined ? undefined : { file, path: [...path, 'defaultRule'], written };
}

interface Allowance {
  readonly code: string;
  readonly place: Place;
  /** The comment behind it; may be empty. */
  readonly reason: string;
  isUsed: boolean;
}

/** By the files in which they permit findings: those of a flag hold in its overlays too. */
function allowancesIn({ flags, segments, specs }: SpecParts): Map<SpecFile, Allowance[]> {
  const overlays = grouped(specs.overlays, ({ spec }) => spec.flag);
  const found = new Map<SpecFile, Allowance[]>();
  for (const { name, file } of flags) {
    const own = allowancesOf(file);
    for (const each of [{ file }, ...(overlays.get(name) ?? [])]) found.set(each.file, own);
  }
  for (const name of segments.keys()) {
    const { file } = placeOfSegment(specs, name, []);
    found.set(file, allowancesOf(file));
  }
  return found;
}

function allowancesOf(file: SpecFile): Allowance[] {
  const { allow = [] } = (file.value ?? {}) as { allow?: string | readonly string[] };
  return [allow].flat().map((code, at) => {
    const path = typeof allow === 'string' ? ['allow'] : ['allow', at];
    return { code, place: { file, path }, reason: commentBehind(file, path), isUsed: false };
  });
}

/** The comment at the end of a value's last line, without `#`. */
function commentBehind(file: SpecFile, path: Place['path']): string {
  const end = file.place(path)?.value.to ?? 0;
  const line = /^[^\n]*/.exec(file.source.text.slice(end))?.[0] ?? '';
  return /(?:^|\s)#(.*)$/.exec(line)?.[1]?.trim() ?? '';
}

/** Null for a kind that the service does not list. */
interface NamesOnService {
  readonly workspace: string;
  readonly environments: readonly { readonly id: string; readonly name: string }[];
  readonly trafficTypes: readonly string[] | null;
  readonly rolloutStatuses: readonly string[] | null;
  readonly segments: readonly string[] | null;
  readonly flags: readonly string[] | null;
}

/** Names in the specs that the service does not have. Objects that a run would create are not checked. */
export function missingOnService({ specs }: SpecParts, names: NamesOnService): Diagnostic[] {
  const { config, loaded, named } = specs;
  const [configFile] = loaded.files.config;
  if (config === undefined || configFile === undefined) return [];
  const diagnostics: Diagnostic[] = [];
  const check = (
    what: string,
    name: string | undefined,
    known: readonly string[] | null,
    { file, ...place }: Place,
  ): void => {
    if (name === undefined || known === null || known.includes(name)) return;
    const message = `workspace "${names.workspace}" has no ${what} "${name}"${didYouMean(name, known)}`;
    diagnostics.push(file.diagnostic('not-on-service', place, message));
  };
  const inConfig = (...path: Place['path']): Place => ({ file: configFile, path });
  // The config may call an environment by its id.
  const environments = names.environments.flatMap(({ id, name }) => [name, id]);
  for (const { name } of config.environments) {
    check('environment', name, environments, { ...inConfig('environments', name), at: 'key' });
  }
  for (const [position, name] of config.references.segments.entries()) {
    check('segment', name, names.segments, inConfig('references', 'segments', position));
  }
  for (const [position, name] of config.references.flags.entries()) {
    check('flag', name, names.flags, inConfig('references', 'flags', position));
  }
  const checkType = (name: string | undefined, place: Place): void => {
    check('traffic type', name, names.trafficTypes, place);
  };
  // Once, and not for each object that inherits it.
  checkType(config.defaultTrafficType, inConfig('defaults', 'trafficType'));
  for (const { file, spec } of [...named.flag.values(), ...named.segment.values()]) {
    checkType(spec.trafficType, { file, path: ['trafficType'] });
  }
  for (const { file, spec } of named.flag.values()) {
    const place = { file, path: ['rolloutStatus'] };
    check('rollout status', spec.rolloutStatus, names.rolloutStatuses, place);
  }
  return inOrder(diagnostics);
}

import type { EnvironmentSpec } from '../generated/flag.schema.d.js';
import { ownMember } from '../model/collections.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { LintLevel } from '../generated/config.schema.d.js';
import type { LintCode } from '../specs/codes.js';
import type { SpecFile } from '../specs/parse/parse-file.js';
import { fileDiagnostic } from '../specs/parse/source-text.js';
import { inOrder, type SpecParts } from '../specs/read-specs.js';
import type { ResolvedFlag } from '../specs/resolve/flags.js';
import { BUCKET_RULES } from './bucket-rules.js';
import { DEFINITION_RULES } from './definition-rules.js';
import { HOUSE_RULES } from './house-rules.js';
import { REPOSITORY_RULES } from './repository-rules.js';
import type { Finding, LintedDefinition, LintedRepository, LintRule, Place } from './rule.js';

/** Applied last, when it is known which allowances were used. */
const ALLOW_RULES: readonly (LintRule & {
  readonly find: (allowance: Allowance, isUsed: boolean) => string | undefined;
})[] = [
  {
    code: 'allow-unknown',
    level: 'error',
    find: ({ code }) => (CODES.has(code) ? undefined : `there is no rule "${code}"`),
  },
  {
    code: 'allow-without-reason',
    level: 'error',
    find: ({ code, reason }) =>
      CODES.has(code) && reason === ''
        ? `say why "${code}" is allowed in a comment behind it: allow: ${code} # reason`
        : undefined,
  },
  {
    code: 'allow-unused',
    level: 'warning',
    find: ({ code }, isUsed) =>
      CODES.has(code) && !isUsed ? `nothing here needs "${code}" to be allowed` : undefined,
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
  const [configFile] = loaded.files.get('config') ?? [];
  if (config === undefined || configFile === undefined) return [];
  const settings = config.lint ?? {};
  const repository = { ...parts, config, configFile, settings, ...NOT_ASKED, ...options };
  const levelOf = ({ code, level }: LintRule): LintLevel => settings.levels?.[code] ?? level;
  const diagnostics: Diagnostic[] = [];
  const allowances = new Map(allowingFiles(parts).map((file) => [file, allowancesOf(file)]));
  const used = new Set<Allowance>();
  const report = (rule: LintRule, finding: Finding): void => {
    const level = levelOf(rule);
    if (level === 'off') return;
    const own = finding.allowedBy && allowances.get(finding.allowedBy);
    const allowed = own?.find(({ code }) => code === rule.code);
    if (allowed) used.add(allowed);
    else diagnostics.push(diagnosticOf(rule.code, level, finding));
  };
  for (const rule of [...REPOSITORY_RULES, ...HOUSE_RULES]) {
    if (levelOf(rule) !== 'off') for (const each of rule.find(repository)) report(rule, each);
  }
  const active = [...DEFINITION_RULES, ...BUCKET_RULES].filter((rule) => levelOf(rule) !== 'off');
  for (const definition of definitionsOf(repository)) {
    for (const rule of active) {
      for (const each of rule.find(definition, repository)) report(rule, each);
    }
  }
  for (const [file, each] of allowances) {
    for (const allowance of each) {
      for (const rule of ALLOW_RULES) {
        const message = rule.find(allowance, used.has(allowance));
        if (message !== undefined) report(rule, { place: { file, path: allowance.path }, message });
      }
    }
  }
  return inOrder(diagnostics);
}

function* definitionsOf({ flags, specs }: LintedRepository): Generator<LintedDefinition> {
  const keyOf = (flag: string, environment: string): string => JSON.stringify([flag, environment]);
  const overlays = new Map(
    specs.overlays.map((overlay) => [keyOf(overlay.spec.flag, overlay.spec.environment), overlay]),
  );
  for (const flag of flags) {
    for (const [environment, { definition, rules }] of flag.environments) {
      if (definition === undefined) continue;
      const overlay = overlays.get(keyOf(flag.name, environment));
      const own: Block =
        overlay === undefined
          ? blockIn(flag, environment)
          : { file: overlay.file, path: [], spec: overlay.spec };
      const block: Place =
        overlay === undefined
          ? { file: own.file, path: own.path, at: 'key' }
          : { file: own.file, path: ['environment'] };
      const defaultRule = defaultRuleIn(own) ?? defaultRuleIn(blockIn(flag, '*'));
      yield { flag, environment, definition, rules, defaultRule, block };
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

/** Stray files are not parsed, so the only place in them is their beginning. */
function diagnosticOf(code: LintCode, level: LintLevel, { place, message }: Finding): Diagnostic {
  const severity = level === 'error' ? 'error' : 'warning';
  if ('strayPath' in place) return { ...fileDiagnostic(place.strayPath, code, message), severity };
  const { file, path, at } = place;
  return { ...file.diagnostic(code, { path, ...(at && { at }) }, message), severity };
}

interface Allowance {
  readonly code: string;
  readonly path: Place['path'];
  /** The comment behind it; may be empty. */
  readonly reason: string;
}

function allowingFiles({ flags, segments, specs }: SpecParts): SpecFile[] {
  return [
    ...flags.map(({ file }) => file),
    ...[...segments.keys()].flatMap((name) => specs.segments.get(name)?.file ?? []),
  ];
}

function allowancesOf(file: SpecFile): Allowance[] {
  const { allow } = (file.value ?? {}) as { allow?: string | readonly string[] };
  if (allow === undefined) return [];
  const codes = typeof allow === 'string' ? [allow] : allow;
  return codes.map((code, at) => {
    const path = typeof allow === 'string' ? ['allow'] : ['allow', at];
    return { code, path, reason: commentBehind(file, path) };
  });
}

/** The comment at the end of a value's last line, without `#`. */
function commentBehind(file: SpecFile, path: Place['path']): string {
  const end = file.place(path)?.value.to ?? 0;
  const line = /^[^\n]*/.exec(file.source.text.slice(end))?.[0] ?? '';
  return /(?:^|\s)#(.*)$/.exec(line)?.[1]?.trim() ?? '';
}

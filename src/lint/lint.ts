import type { EnvironmentSpec } from '../generated/flag.schema.d.js';
import { ownMember } from '../model/collections.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { LintLevel } from '../generated/config.schema.d.js';
import type { LintCode } from '../specs/codes.js';
import type { StrayFile } from '../specs/parse/stray-files.js';
import type { SpecFile } from '../specs/parse/parse-file.js';
import { fileDiagnostic } from '../specs/parse/source-text.js';
import { inOrder, type SpecParts } from '../specs/read-specs.js';
import type { ResolvedFlag } from '../specs/resolve/resolved-flag.js';
import { BUCKET_RULES } from './bucket-rules.js';
import { DEFINITION_RULES } from './definition-rules.js';
import { HOUSE_RULES } from './house-rules.js';
import { REPOSITORY_RULES } from './repository-rules.js';
import type { Finding, LintedDefinition, LintedRepository, LintRule, Place } from './rule.js';

/** Rules about `allow` itself. `lint` applies them last, when it knows which allowances were used. */
const ALLOW_RULES: readonly LintRule[] = [
  { code: 'allow-unknown', level: 'error' },
  { code: 'allow-without-reason', level: 'error' },
  { code: 'allow-unused', level: 'warning' },
];

/** Every rule, in the order of `docs/lint.md`. */
export const LINT_RULES: readonly LintRule[] = [
  ...DEFINITION_RULES,
  ...BUCKET_RULES,
  ...REPOSITORY_RULES,
  ...HOUSE_RULES,
  ...ALLOW_RULES,
];

export interface LintOptions extends Pick<LintedRepository, 'today'> {
  readonly strays?: readonly StrayFile[];
  /** Ages of the files of flags; computed only where `lint.staleAfter` is set. */
  readonly ages?: LintedRepository['ages'];
  /** Computed only where `lint.reserveNames` is set. */
  readonly removals?: LintedRepository['removals'];
  readonly before?: LintedRepository['before'];
  /** Computed only where `lint.codeReferences` is set. */
  readonly inCode?: LintedRepository['inCode'];
}

/** Defaults for facts that the caller did not compute. */
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
  const { config } = parts.specs;
  if (config === undefined) return [];
  const repository = { ...parts, config, settings: config.lint ?? {}, ...NOT_ASKED, ...options };
  const levelOf = ({ code, level }: LintRule): LintLevel =>
    repository.settings.levels?.[code] ?? level;
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
        const message = faultOf(rule.code, allowance, used);
        if (message !== undefined) report(rule, { place: { file, path: allowance.path }, message });
      }
    }
  }
  return inOrder(diagnostics);
}

function* definitionsOf({ flags, specs }: LintedRepository): Generator<LintedDefinition> {
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

function keyOf(flag: string, environment: string): string {
  return JSON.stringify([flag, environment]);
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

/** The schema takes one code or a list of codes. */
function allowancesOf(file: SpecFile): Allowance[] {
  const { allow } = (file.parsed.value ?? {}) as { allow?: string | readonly string[] };
  if (allow === undefined) return [];
  const codes = typeof allow === 'string' ? [allow] : allow;
  return codes.map((code, at) => {
    const path = typeof allow === 'string' ? ['allow'] : ['allow', at];
    return { code, path, reason: commentBehind(file, path) };
  });
}

/** The comment at the end of a value's last line, without `#`. */
function commentBehind({ parsed: { places, source } }: SpecFile, path: Place['path']): string {
  const end = places?.at(path)?.value.to ?? 0;
  const line = /^[^\n]*/.exec(source.text.slice(end))?.[0] ?? '';
  return /(?:^|\s)#(.*)$/.exec(line)?.[1]?.trim() ?? '';
}

const CODES: ReadonlySet<string> = new Set(LINT_RULES.map(({ code }) => code));

function faultOf(
  rule: LintCode,
  allowance: Allowance,
  used: ReadonlySet<Allowance>,
): string | undefined {
  const { code, reason } = allowance;
  if (!CODES.has(code)) {
    return rule === 'allow-unknown' ? `there is no rule "${code}"` : undefined;
  }
  if (rule === 'allow-without-reason' && reason === '') {
    return `say why "${code}" is allowed in a comment behind it: allow: ${code} # reason`;
  }
  if (rule === 'allow-unused' && !used.has(allowance)) {
    return `nothing here needs "${code}" to be allowed`;
  }
  return undefined;
}

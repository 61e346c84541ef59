import { ownMember } from '../model/collections.js';
import type { FlagSpec } from '../generated/flag.schema.d.js';
import { validOf } from '../specs/resolve/spec-set.js';
import { expressionOf, whyNoPattern } from '../model/matcher/expression.js';
import {
  DAY_MS,
  placeOfSegment,
  type LintedRepository,
  type LintRule,
  type Place,
  type Report,
} from './rule.js';
import { staleRollouts } from './stale.js';

/** A rule without its setting in flagkeel.yaml finds nothing. */
export const HOUSE_RULES: readonly LintRule<LintedRepository>[] = [
  { code: 'name-pattern', level: 'error', find: namesOffPattern },
  { code: 'required-field', level: 'error', find: missingFields },
  { code: 'unknown-word', level: 'error', find: unknownWords },
  { code: 'expiry-too-late', level: 'error', find: lateExpiries },
  { code: 'stale-rollout', level: 'warning', find: staleRollouts },
  { code: 'name-reused', level: 'error', find: reusedNames },
  { code: 'code-ref-missing', level: 'warning', find: missingInCode },
];

/**
 * An invalid pattern is reported once, in flagkeel.yaml, and then no name is judged. Treatments are judged only where
 * the flag declares them: environments that replace treatments mostly reuse those names.
 */
function namesOffPattern(repository: LintedRepository, report: Report): void {
  const { flags, segments, settings, configFile, specs } = repository;
  const { names = {} } = settings;
  let isBroken = false;
  for (const [what, pattern] of Object.entries(names)) {
    const why = whyNoPattern(pattern);
    if (why === undefined) continue;
    isBroken = true;
    report({ file: configFile, path: ['lint', 'names', what] }, `"${pattern}" ${why}`);
  }
  if (isBroken) return;
  const expressions = new Map(
    Object.entries(names).map(([what, pattern]) => [what, expressionOf(`^(?:${pattern})$`)]),
  );
  const judge = (what: keyof typeof names, name: string, place: Place): void => {
    if (expressions.get(what)?.isIn(name) !== false) return;
    report(place, `${what} "${name}" does not match ${names[what] ?? ''}`);
  };
  for (const { name, spec, file } of flags) {
    judge('flag', name, { file, path: ['flag'] });
    for (const each of file.keys('treatments')) {
      judge('treatment', each, { file, path: ['treatments', each], at: 'key' });
    }
    for (const [at, tag] of (spec.tags ?? []).entries()) {
      judge('tag', tag, { file, path: ['tags', at] });
    }
  }
  for (const name of segments.keys()) {
    judge('segment', name, placeOfSegment(specs, name, ['segment']));
  }
}

/** All in one finding, because they share one place. */
function missingFields({ flags, settings, config, specs }: LintedRepository, report: Report): void {
  const { require = [] } = settings;
  if (require.length === 0) return;
  const guarded = new Set(
    config.environments.filter((each) => each.protected === true).map(({ name }) => name),
  );
  const tested = new Set(
    validOf(specs.loaded, 'spec-test').flatMap(({ spec }) =>
      spec.cases.some(({ environment }) => guarded.has(environment)) ? [spec.tests] : [],
    ),
  );
  for (const { name, file, spec, environments } of flags) {
    const isGuarded = [...environments.keys()].some((each) => guarded.has(each));
    const missing = require.flatMap((field) => {
      if (field !== 'tests') return isSaid(spec[field]) ? [] : [`"${field}"`];
      return isGuarded && !tested.has(name) ? ['a spec test of a protected environment'] : [];
    });
    if (missing.length === 0) continue;
    report({ file, path: ['flag'] }, `the house wants ${missing.join(', ')}`);
  }
}

/** Empty texts, lists and mappings do not count. */
function isSaid(value: FlagSpec[keyof FlagSpec]): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  return value !== undefined && Object.keys(value).length > 0;
}

/** Skips absent fields: `require` decides whether a field has to be there. */
function unknownWords({ flags, settings }: LintedRepository, report: Report): void {
  const fields = Object.entries(settings.words ?? {}) as [keyof FlagSpec, readonly string[]][];
  for (const { file, spec } of flags) {
    for (const [field, words] of fields) {
      const value = spec[field] as string | readonly string[] | undefined;
      for (const [at, word] of [value ?? []].flat().entries()) {
        if (words.includes(word)) continue;
        const message = `"${word}" is none of the words for ${field} (lint.words in flagkeel.yaml)`;
        report({ file, path: Array.isArray(value) ? [field, at] : [field] }, message);
      }
    }
  }
}

/** Counts from today: no file says on which day the flag was made. */
function lateExpiries({ flags, settings, today }: LintedRepository, report: Report): void {
  for (const { file, spec } of flags) {
    const { kind, expires } = spec;
    const days = kind === undefined ? undefined : ownMember(settings.expiresWithin, kind);
    if (kind === undefined || days === undefined || days === 0) continue;
    const last = new Date(Date.parse(today) + days * DAY_MS).toISOString().slice(0, 10);
    if (expires === undefined) {
      const message = `a flag of kind "${kind}" needs "expires", ${last} at the latest`;
      report({ file, path: ['flag'] }, message);
    } else if (expires > last) {
      const message = `a flag of kind "${kind}" expires within ${days} days, by ${last}`;
      report({ file, path: ['expires'] }, message);
    }
  }
}

/** Compares names of removed files, because a flag's file has the flag's name. */
function reusedNames({ flags, settings, removals }: LintedRepository, report: Report): void {
  if (settings.reserveNames !== true) return;
  for (const { name, file } of flags) {
    const day = removals.get(`${name}.yaml`);
    if (day === undefined) continue;
    report({ file, path: ['flag'] }, `another flag "${name}" was removed on ${day}`);
  }
}

/** A path that cannot be searched is reported once, in flagkeel.yaml, and then no flag is judged. */
function missingInCode(repository: LintedRepository, report: Report): void {
  const { flags, settings, configFile, inCode } = repository;
  const paths: readonly string[] = settings.codeReferences ?? [];
  if (paths.length === 0 || inCode === null) return;
  for (const { path, why } of inCode.refused) {
    const place = ['lint', 'codeReferences', paths.indexOf(path)];
    report({ file: configFile, path: place }, `"${path}" ${why}`);
  }
  if (inCode.refused.length > 0) return;
  const searched = paths.map((path) => `"${path}"`).join(', ');
  for (const { name, file } of flags) {
    if (inCode.found.has(name)) continue;
    report({ file, path: ['flag'] }, `no code in ${searched} names flag "${name}"`);
  }
}

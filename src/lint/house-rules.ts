import { byCodeUnits } from '../model/json.js';
import type { FlagSpec } from '../generated/flag.schema.d.js';
import type { SpecTestSpec } from '../generated/spec-test.schema.d.js';
import { validOf } from '../specs/resolve/spec-set.js';
import { expressionOf, whyNoPattern } from '../model/matcher/expression.js';
import {
  DAY_MS,
  eachFlag,
  ofFlag,
  ofSegment,
  type Finding,
  type LintedRepository,
  type RepositoryRule,
} from './rule.js';
import { staleRollouts } from './stale.js';

/** A rule without its setting in flagkeel.yaml finds nothing. */
export const HOUSE_RULES: readonly RepositoryRule[] = [
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
function namesOffPattern(repository: LintedRepository): Finding[] {
  const { flags, segments, specs, settings, configFile } = repository;
  const { names = {} } = settings;
  const broken = Object.entries(names).flatMap(([what, pattern]) => {
    const why = whyNoPattern(pattern);
    if (why === undefined) return [];
    const place = { file: configFile, path: ['lint', 'names', what] };
    return [{ place, message: `"${pattern}" ${why}` }];
  });
  if (broken.length > 0) return broken;
  const patterns = new Map(
    Object.values(names).map((pattern) => [pattern, expressionOf(`^(?:${pattern})$`)]),
  );
  const off = (pattern: string | undefined, name: string): boolean =>
    patterns.get(pattern ?? '')?.isIn(name) === false;
  const misfit = (what: string, name: string, pattern = ''): string =>
    `${what} "${name}" does not match ${pattern}`;
  return [
    ...flags.flatMap((flag) => {
      const { name, spec, file } = flag;
      const treatments = file.keys('treatments').filter((each) => off(names.treatment, each));
      const tags = spec.tags ?? [];
      return [
        ...(off(names.flag, name)
          ? [ofFlag(flag, ['flag'], misfit('flag', name, names.flag))]
          : []),
        ...treatments.map((each) =>
          ofFlag(flag, ['treatments', each], misfit('treatment', each, names.treatment), 'key'),
        ),
        ...tags.flatMap((tag, at) =>
          off(names.tag, tag) ? [ofFlag(flag, ['tags', at], misfit('tag', tag, names.tag))] : [],
        ),
      ];
    }),
    ...[...segments.keys()]
      .filter((name) => off(names.segment, name))
      .flatMap((name) => {
        return ofSegment(specs, name, ['segment'], misfit('segment', name, names.segment));
      }),
  ];
}

/** All in one finding, because they share one place. */
function missingFields({ flags, settings, config, specs }: LintedRepository): Finding[] {
  const { require = [] } = settings;
  if (require.length === 0) return [];
  const guarded = new Set(
    config.environments.filter((each) => each.protected === true).map(({ name }) => name),
  );
  const tested = new Set(
    validOf<SpecTestSpec>(specs.loaded.files.get('spec-test') ?? []).flatMap(({ spec }) =>
      spec.cases.some(({ environment }) => guarded.has(environment)) ? [spec.tests] : [],
    ),
  );
  return eachFlag(flags, 'flag', (flag) => {
    const isGuarded = [...flag.environments.keys()].some((name) => guarded.has(name));
    const missing = require.filter((field) => {
      if (field === 'tests') return isGuarded && !tested.has(flag.name);
      return !isSaid(flag.spec[field]);
    });
    const names = missing.map((field) =>
      field === 'tests' ? 'a spec test of a protected environment' : `"${field}"`,
    );
    return names.length === 0 ? undefined : `the house wants ${names.join(', ')}`;
  });
}

/** Empty texts, lists and mappings do not count. */
function isSaid(value: FlagSpec[keyof FlagSpec]): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  return value !== undefined && Object.keys(value).length > 0;
}

/** Skips absent fields: `require` decides whether a field has to be there. */
function unknownWords({ flags, settings }: LintedRepository): Finding[] {
  const fields = Object.entries(settings.words ?? {}) as [keyof FlagSpec, readonly string[]][];
  return flags.flatMap((flag) =>
    fields.flatMap(([field, words]) => {
      const value = flag.spec[field] as string | readonly string[] | undefined;
      const isList = Array.isArray(value);
      return [value ?? []].flat().flatMap((word, at) => {
        if (words.includes(word)) return [];
        const message = `"${word}" is none of the words for ${field} (lint.words in flagkeel.yaml)`;
        return [ofFlag(flag, isList ? [field, at] : [field], message)];
      });
    }),
  );
}

/** Counts from today: no file says on which day the flag was made. */
function lateExpiries({ flags, settings, today }: LintedRepository): Finding[] {
  const { expiresWithin = {} } = settings;
  return flags.flatMap((flag) => {
    const { kind, expires } = flag.spec;
    const days = kind !== undefined && Object.hasOwn(expiresWithin, kind) ? expiresWithin[kind] : 0;
    if (kind === undefined || days === undefined || days === 0) return [];
    const last = new Date(Date.parse(today) + days * DAY_MS).toISOString().slice(0, 10);
    if (expires === undefined) {
      const message = `a flag of kind "${kind}" needs "expires", ${last} at the latest`;
      return [ofFlag(flag, ['flag'], message)];
    }
    if (byCodeUnits(expires, last) <= 0) return [];
    const message = `a flag of kind "${kind}" expires within ${days} days, by ${last}`;
    return [ofFlag(flag, ['expires'], message)];
  });
}

/** Compares names of removed files, because a flag's file has the flag's name. */
function reusedNames({ flags, settings, removals }: LintedRepository): Finding[] {
  if (settings.reserveNames !== true) return [];
  return eachFlag(flags, 'flag', ({ name }) => {
    const day = removals.get(`${name}.yaml`);
    return day && `another flag "${name}" was removed on ${day}`;
  });
}

/** A path that cannot be searched is reported once, in flagkeel.yaml, and then no flag is judged. */
function missingInCode({ flags, settings, configFile, inCode }: LintedRepository): Finding[] {
  const paths: readonly string[] = settings.codeReferences ?? [];
  if (paths.length === 0 || inCode === null) return [];
  if (inCode.refused.length > 0) {
    return inCode.refused.map(({ path, why }) => {
      const place = { file: configFile, path: ['lint', 'codeReferences', paths.indexOf(path)] };
      return { place, message: `"${path}" ${why}` };
    });
  }
  const searched = paths.map((path) => `"${path}"`).join(', ');
  return eachFlag(flags, 'flag', ({ name }) =>
    inCode.found.has(name) ? undefined : `no code in ${searched} names flag "${name}"`,
  );
}

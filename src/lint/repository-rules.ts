import { byCodeUnits } from '../model/json.js';
import { expressionOf, whyNoPattern } from '../model/matcher/expression.js';
import { segmentOf } from '../model/matcher/canonical.js';
import type { FlagSpec } from '../generated/flag.schema.d.js';
import type { SpecTestSpec } from '../generated/spec-test.schema.d.js';
import type { SpecFile } from '../specs/parse/parse-file.js';
import { validOf } from '../specs/resolve/spec-set.js';
import type { ResolvedFlag } from '../specs/resolve/resolved-flag.js';
import {
  DAY_MS,
  type Finding,
  type LintedRepository,
  type Place,
  type RepositoryRule,
} from './rule.js';
import { staleRollouts } from './stale.js';

const LIFE = 'Life and order';
const HOUSE = 'Rules of the house';

/** What is looked for once, over the whole repository. */
export const REPOSITORY_RULES: readonly RepositoryRule[] = [
  {
    code: 'expired',
    level: 'warning',
    reason: 'The day is past by which the flag was to be gone.',
    section: LIFE,
    find: expired,
  },
  {
    code: 'kill-review-passed',
    level: 'warning',
    reason: 'A kill was to be looked at again, and still stands.',
    section: LIFE,
    find: passedReviews,
  },
  {
    code: 'confusable-names',
    level: 'warning',
    reason: 'Code that asks for the one flag gets the other by a slip of the hand.',
    section: LIFE,
    find: confusableNames,
  },
  {
    code: 'unused-segment',
    level: 'warning',
    reason: 'A segment that no rule here names is kept in order for nobody.',
    section: LIFE,
    find: unusedSegments,
  },
  {
    code: 'duplicate-segment-keys',
    level: 'warning',
    reason: 'Two segments of the same keys are soon two segments of almost the same keys.',
    section: LIFE,
    find: twinSegments,
  },
  {
    code: 'many-inline-keys',
    level: 'warning',
    reason: 'A long list belongs in a key file, where two edits of it do not clash.',
    section: LIFE,
    find: longLists,
  },
  {
    code: 'stray-file',
    level: 'warning',
    reason: 'What lies elsewhere is not read, and looks as if it were.',
    section: LIFE,
    find: ({ strays }) =>
      strays.map(({ path, advice }) => ({
        place: { strayPath: path },
        message: `the file looks like a spec and is not read: ${advice}`,
      })),
  },
  {
    code: 'name-pattern',
    level: 'error',
    reason: 'Names follow one pattern, so that they can be found and told apart.',
    section: HOUSE,
    find: namesOffPattern,
  },
  {
    code: 'required-field',
    level: 'error',
    reason: 'The house wants every flag to say it.',
    section: HOUSE,
    find: missingFields,
  },
  {
    code: 'unknown-word',
    level: 'error',
    reason: 'Only these words are agreed on; another one is mostly misspelt.',
    section: HOUSE,
    find: unknownWords,
  },
  {
    code: 'expiry-too-late',
    level: 'error',
    reason: 'A flag of this kind is not meant to live so long.',
    section: HOUSE,
    find: lateExpiries,
  },
  {
    code: 'stale-rollout',
    level: 'warning',
    reason: 'Everybody has got the same for so long that the flag can be taken out of the code.',
    section: HOUSE,
    find: staleRollouts,
  },
];

/** The day itself still counts. */
function expired({ flags, today }: LintedRepository): Finding[] {
  return flags.flatMap((flag) => {
    const { expires } = flag.spec;
    if (expires === undefined || expires >= today) return [];
    return [ofFlag(flag, ['expires'], `the flag was to be gone by ${expires}`)];
  });
}

/** Kills of flags that live elsewhere count as well: the list is ours. */
function passedReviews({ kills, specs, today }: LintedRepository): Finding[] {
  const files = new Map((specs.loaded.files.get('kills') ?? []).map((file) => [file.path, file]));
  return kills.flatMap(({ flag, review, location }) => {
    const file = files.get(location.file);
    // Days and moments of one day compare by their first ten characters.
    if (!file || review === undefined || review.slice(0, 10) >= today) return [];
    const message = `the kill of "${flag}" was to be reviewed on ${review.slice(0, 10)}`;
    return [{ place: { file, path: ['kills', flag, 'review'] }, message }];
  });
}

/** The later of two in the order of the files is told. Segments are named in specs only, where a slip is an error anyway. */
function confusableNames({ flags }: LintedRepository): Finding[] {
  const firstOf = new Map<string, string>();
  return flags.flatMap((flag) => {
    const form = flag.name.toLowerCase().replaceAll(/[-_]/g, '');
    const first = firstOf.get(form);
    if (first === undefined) {
      firstOf.set(form, flag.name);
      return [];
    }
    const message = `"${flag.name}" differs from flag "${first}" by case, "-" and "_" alone`;
    return [ofFlag(flag, ['flag'], message)];
  });
}

/** Another repository may name the segment, which is why the rule speaks of this one. */
function unusedSegments({ flags, segments, specs }: LintedRepository): Finding[] {
  // A flag that cannot be read may be the one that uses it.
  if (specs.unjudged.flags.size > 0 || flags.length < specs.flags.size) return [];
  const used = new Set(
    flags.flatMap(({ environments }) =>
      [...environments.values()].flatMap(({ definition }) =>
        (definition?.creation.rules ?? []).flatMap(({ matchers }) => matchers.map(segmentOf)),
      ),
    ),
  );
  return [...segments.keys()].flatMap((name) => {
    if (used.has(name)) return [];
    return ofSegment(
      specs,
      name,
      ['segment'],
      `no rule of this repository names segment "${name}"`,
    );
  });
}

/** Lists are compared by their digests. Empty ones, and those that are not ours, say nothing about who was meant. */
function twinSegments({ segments, specs }: LintedRepository): Finding[] {
  const firstOf = new Map<string, string>();
  return [...segments].flatMap(([name, { environments, trafficType }]) => {
    const lists = [...environments].map(([environment, { keys }]) => [environment, keys?.digest]);
    const isSaid = [...environments.values()].every(({ keys }) => (keys?.digest.count ?? 0) > 0);
    if (!isSaid || lists.length === 0) return [];
    const form = JSON.stringify([trafficType, lists]);
    const first = firstOf.get(form);
    if (first !== undefined) {
      const message = `segment "${name}" has the same keys as "${first}" in every environment`;
      return ofSegment(specs, name, ['segment'], message);
    }
    firstOf.set(form, name);
    return [];
  });
}

/** Keys that a spec lists itself before a key file is the better place. */
const MOST_INLINE = 200;

/** Keys of a key file do not count. */
function longLists({ segments, specs }: LintedRepository): Finding[] {
  return [...segments.keys()].flatMap((name) =>
    Object.entries(specs.segments.get(name)?.spec.environments ?? {}).flatMap(
      ([environment, { keys = [] }]) => {
        if (keys.length <= MOST_INLINE) return [];
        const message = `${keys.length} keys stand in the spec itself; put them in a file and name it in keysFile`;
        return ofSegment(specs, name, ['environments', environment, 'keys'], message);
      },
    ),
  );
}

/**
 * A pattern that is none is told once, in flaghoist.yaml, and then no name is judged. A treatment is judged where the flag
 * declares it; what an environment replaces goes by the same names mostly, and is left alone.
 */
function namesOffPattern(repository: LintedRepository): Finding[] {
  const { flags, segments, specs, settings } = repository;
  const { names = {} } = settings;
  const config = specs.loaded.files.get('config')?.[0];
  const broken = Object.entries(names).flatMap(([what, pattern]) => {
    const why = whyNoPattern(pattern);
    if (config === undefined || why === undefined) return [];
    const place = { file: config, path: ['lint', 'names', what] };
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
      .flatMap((name) =>
        ofSegment(specs, name, ['segment'], misfit('segment', name, names.segment)),
      ),
  ];
}

/** All that one flag lacks is one finding, because it has one place. */
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
  return flags.flatMap((flag) => {
    const isGuarded = [...flag.environments.keys()].some((name) => guarded.has(name));
    const missing = require.filter((field) => {
      if (field === 'tests') return isGuarded && !tested.has(flag.name);
      return !isSaid(flag.spec[field]);
    });
    if (missing.length === 0) return [];
    const names = missing.map((field) =>
      field === 'tests' ? 'a spec test of a protected environment' : `"${field}"`,
    );
    return [ofFlag(flag, ['flag'], `the house wants ${names.join(', ')}`)];
  });
}

/** An empty text, list or mapping says nothing. */
function isSaid(value: FlagSpec[keyof FlagSpec]): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  return value !== undefined && Object.keys(value).length > 0;
}

/** A field that is not there uses no word; whether it has to be there says `require`. */
function unknownWords({ flags, settings }: LintedRepository): Finding[] {
  const fields = Object.entries(settings.words ?? {}) as [keyof FlagSpec, readonly string[]][];
  return flags.flatMap((flag) =>
    fields.flatMap(([field, words]) => {
      const value = flag.spec[field] as string | readonly string[] | undefined;
      const isList = Array.isArray(value);
      return [value ?? []].flat().flatMap((word, at) => {
        if (words.includes(word)) return [];
        const message = `"${word}" is none of the words for ${field} (lint.words in flaghoist.yaml)`;
        return [ofFlag(flag, isList ? [field, at] : [field], message)];
      });
    }),
  );
}

/** Counted from today and not from the day on which the flag was made, which no file says. */
function lateExpiries({ flags, settings, today }: LintedRepository): Finding[] {
  const { expiresWithin = {} } = settings;
  return flags.flatMap((flag) => {
    const { kind, expires } = flag.spec;
    const days = kind !== undefined && Object.hasOwn(expiresWithin, kind) ? expiresWithin[kind] : 0;
    if (kind === undefined || days === undefined || days === 0) return [];
    const last = new Date(Date.parse(today) + days * DAY_MS).toISOString().slice(0, 10);
    if (expires === undefined) {
      return [
        ofFlag(flag, ['flag'], `a flag of kind "${kind}" needs "expires", ${last} at the latest`),
      ];
    }
    if (byCodeUnits(expires, last) <= 0) return [];
    const message = `a flag of kind "${kind}" expires within ${days} days, by ${last}`;
    return [ofFlag(flag, ['expires'], message)];
  });
}

/** A finding in the flag's own file, which can allow it. */
function ofFlag(
  { file }: ResolvedFlag,
  path: Place['path'],
  message: string,
  at?: 'key',
): Finding & { allowedBy: SpecFile } {
  return { place: { file, path, ...(at && { at }) }, message, allowedBy: file };
}

/** The same for a segment; none where its file is not among the right ones. */
function ofSegment(
  { segments }: LintedRepository['specs'],
  name: string,
  path: Place['path'],
  message: string,
): Finding[] {
  const file = segments.get(name)?.file;
  return file === undefined ? [] : [{ place: { file, path }, message, allowedBy: file }];
}

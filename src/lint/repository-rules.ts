import { segmentOf } from '../model/matcher/canonical.js';
import { usedConditions } from '../specs/usage.js';
import {
  ofFlag,
  ofSegment,
  type Finding,
  type LintedRepository,
  type RepositoryRule,
} from './rule.js';

const LIFE = 'Life and order';

/** What is looked for once, over the whole repository. */
export const REPOSITORY_RULES: readonly RepositoryRule[] = [
  {
    code: 'expired',
    level: 'warning',
    reason: 'The day is past by which the flag was to be gone.',
    wayOut: 'Remove the flag from the code and then from git, or set a later day.',
    section: LIFE,
    find: expired,
  },
  {
    code: 'kill-review-passed',
    level: 'warning',
    reason: 'A kill was to be looked at again, and still stands.',
    wayOut: 'Take the kill back, or set a later `review`.',
    section: LIFE,
    find: passedReviews,
  },
  {
    code: 'confusable-names',
    level: 'warning',
    reason: 'Code that asks for the one flag gets the other by a slip of the hand.',
    wayOut: 'Rename the flag that is in use nowhere yet.',
    section: LIFE,
    find: confusableNames,
  },
  {
    code: 'unused-segment',
    level: 'warning',
    reason: 'A segment that no rule here names is kept in order for nobody.',
    wayOut: 'Remove the segment, or allow it where another repository uses it.',
    section: LIFE,
    find: unusedSegments,
  },
  {
    code: 'unused-condition',
    level: 'warning',
    reason: 'A condition that no rule uses is kept right for nobody.',
    wayOut: 'Take it out, or use it.',
    section: LIFE,
    find: unusedConditions,
  },
  {
    code: 'duplicate-segment-keys',
    level: 'warning',
    reason: 'Two segments of the same keys are soon two segments of almost the same keys.',
    wayOut: 'Let the rules name one of them, and remove the other.',
    section: LIFE,
    find: twinSegments,
  },
  {
    code: 'many-inline-keys',
    level: 'warning',
    reason: 'A long list belongs in a key file, where two edits of it do not clash.',
    wayOut: 'Move the keys to a file, one on a line, and name it in `keysFile`.',
    section: LIFE,
    find: longLists,
  },
  {
    code: 'stray-file',
    level: 'warning',
    reason: 'What lies elsewhere is not read, and looks as if it were.',
    wayOut: 'Move the file to where it belongs, or delete it.',
    section: LIFE,
    find: ({ strays }) =>
      strays.map(({ path, advice }) => ({
        place: { strayPath: path },
        message: `the file looks like a spec and is not read: ${advice}`,
      })),
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

/** One that only other conditions use is used. */
function unusedConditions({ specs }: LintedRepository): Finding[] {
  const [config] = specs.loaded.files.get('config') ?? [];
  // A flag that cannot be read may be the one that uses it.
  if (config === undefined || specs.unjudged.flags.size > 0) return [];
  const names = config.keys('conditions');
  const used = names.length === 0 ? new Set() : usedConditions(specs);
  return names.flatMap((name) => {
    if (used.has(name)) return [];
    const place = { file: config, path: ['conditions', name], at: 'key' as const };
    return [{ place, message: `no rule of this repository uses condition "${name}"` }];
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

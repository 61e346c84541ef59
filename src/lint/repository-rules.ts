import { segmentOf } from '../model/matcher/canonical.js';
import type { DesiredKill } from '../model/desired.js';
import { pointerOf } from '../model/json.js';
import { usedConditions } from '../specs/usage.js';
import {
  DAY_MS,
  eachFlag,
  ofSegment,
  type Finding,
  type LintedRepository,
  type Place,
  type RepositoryRule,
} from './rule.js';

export const REPOSITORY_RULES: readonly RepositoryRule[] = [
  { code: 'expired', level: 'warning', find: expired },
  { code: 'kill-review-passed', level: 'warning', find: passedReviews },
  { code: 'kill-too-old', level: 'warning', find: oldKills },
  { code: 'confusable-names', level: 'warning', find: confusableNames },
  { code: 'trailing-space-key', level: 'warning', find: paddedKeys },
  { code: 'unused-segment', level: 'warning', find: unusedSegments },
  { code: 'unused-condition', level: 'warning', find: unusedConditions },
  { code: 'duplicate-segment-keys', level: 'warning', find: twinSegments },
  { code: 'many-inline-keys', level: 'warning', find: longLists },
  {
    code: 'stray-file',
    level: 'warning',
    find: ({ strays }) =>
      strays.map(({ path, advice }) => ({
        place: { strayPath: path },
        message: `the file looks like a spec and is not read: ${advice}`,
      })),
  },
];

/** A flag is still valid on the day itself. */
function expired({ flags, today }: LintedRepository): Finding[] {
  return eachFlag(flags, 'expires', ({ spec: { expires } }) =>
    expires === undefined || expires >= today ? undefined : `the flag was to be gone by ${expires}`,
  );
}

/** Includes kills of flags that live elsewhere: the list belongs to this repository. */
function passedReviews({ today, ...repository }: LintedRepository): Finding[] {
  return listedKills(repository).flatMap(({ flag, review, placeOf }) => {
    if (review === undefined || dayOf(review) >= today) return [];
    const message = `the kill of "${flag}" was to be reviewed on ${dayOf(review)}`;
    return [{ place: placeOf('review'), message }];
  });
}

/** Default of `lint.killsOlderThan`, in days. */
const MOST_KILLED_DAYS = 30;

/** Skips entries without `since`: no file says how old they are. */
function oldKills({ today, settings, ...repository }: LintedRepository): Finding[] {
  const days = settings.killsOlderThan ?? MOST_KILLED_DAYS;
  const first = new Date(Date.parse(today) - days * DAY_MS).toISOString().slice(0, 10);
  return listedKills(repository).flatMap(({ flag, since, review, placeOf }) => {
    if (review !== undefined || since === undefined || dayOf(since) >= first) return [];
    const message = `"${flag}" has been killed since ${dayOf(since)}, for more than ${days} days, and no "review" is set`;
    return [{ place: placeOf('since'), message }];
  });
}

function listedKills({ kills, specs }: Pick<LintedRepository, 'kills' | 'specs'>): (DesiredKill & {
  placeOf: (member: string) => Place;
})[] {
  const files = new Map((specs.loaded.files.get('kills') ?? []).map((file) => [file.path, file]));
  return kills.flatMap((kill) => {
    const file = files.get(kill.location.file);
    if (file === undefined) return [];
    return [{ ...kill, placeOf: (member) => ({ file, path: ['kills', kill.flag, member] }) }];
  });
}

/** Days and moments compare by their first ten characters. */
function dayOf(dayOrMoment: string): string {
  return dayOrMoment.slice(0, 10);
}

/** With the words that say how the names differ. */
const CONFUSABLE = [
  [(name: string) => name.toLowerCase().replaceAll(/[-_]/g, ''), 'by case, "-" and "_" alone'],
  [lookOf, 'by letters alone that look alike'],
] as const;

/** A name reduced to its shape. Names are ASCII, and these are all the letters that most fonts draw alike. */
function lookOf(name: string): string {
  const drawn = name.replaceAll(/[1I]/g, 'l').replaceAll(/[0O]/g, 'o').toLowerCase();
  return drawn.replaceAll('rn', 'm').replaceAll('vv', 'w');
}

/** Reports the later of two. Segments need no check: only specs name them, and a mistyped name is an error there. */
function confusableNames({ flags }: LintedRepository): Finding[] {
  const firstOf = CONFUSABLE.map(() => new Map<string, string>());
  return eachFlag(flags, 'flag', ({ name }) => {
    const found = CONFUSABLE.flatMap(([formOf, how], at) => {
      const first = firstOf[at]?.get(formOf(name));
      if (first === undefined) firstOf[at]?.set(formOf(name), name);
      return first === undefined ? [] : [`"${name}" differs from flag "${first}" ${how}`];
    });
    return found[0];
  });
}

/** Skips key files: their lines are trimmed when read. */
function paddedKeys({ flags, specs }: LintedRepository): Finding[] {
  const fileOf = new Map(flags.map(({ name, file }) => [name, file]));
  const owners = new Map(specs.overlays.map(({ file, spec }) => [file, fileOf.get(spec.flag)]));
  return [...specs.loaded.files].flatMap(([kind, files]) => {
    if (kind === 'keys') return [];
    return files
      .filter(({ valid, value }) => valid && holdsPadded(value))
      .flatMap((file) =>
        paddedIn(file.value).flatMap(({ text, at, path }): Finding[] => {
          if (at === undefined && !KEY_PLACE.test(pointerOf(path))) return [];
          const message = `key "${text}" begins or ends with a space`;
          const place = { file, path, ...(at && { at }) };
          return [{ place, message, allowedBy: owners.get(file) ?? file }];
        }),
      );
  });
}

/** Paths at which a text is a key: of a segment, a target, a case of a spec test, or the attribute of a condition. */
const KEY_PLACE =
  /^\/(?!treatments|identities)(?:.*\/)?(?:keys\/\d+|targets\/[^/]+\/\d+|cases\/\d+\/key|attribute)$/;

interface PaddedText extends Pick<Place, 'path' | 'at'> {
  readonly text: string;
}

/** This is rare, so places are recorded only if it does. */
function holdsPadded(value: unknown): boolean {
  if (typeof value === 'string') return value !== value.trim();
  if (typeof value !== 'object' || value === null) return false;
  let before: unknown;
  for (const [name, member] of Object.entries(value)) {
    // Neighbours with the same content are the same object: look at it once.
    if (name !== name.trim() || (member !== before && holdsPadded(member))) return true;
    before = member;
  }
  return false;
}

function paddedIn(value: unknown): PaddedText[] {
  if (typeof value === 'string') return value === value.trim() ? [] : [{ text: value, path: [] }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(name === name.trim() ? [] : [{ text: name, path: [name], at: 'key' as const }]),
    ...paddedIn(member).map((each) => ({ ...each, path: [name, ...each.path] })),
  ]);
}

/** Another repository may use the segment, so the message speaks of this repository only. */
function unusedSegments({ flags, segments, specs }: LintedRepository): Finding[] {
  // An unreadable flag may be the one that uses the segment.
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
    const message = `no rule of this repository names segment "${name}"`;
    return ofSegment(specs, name, ['segment'], message);
  });
}

/** A condition counts as used even if only other conditions use it. */
function unusedConditions({ specs, configFile }: LintedRepository): Finding[] {
  // An unreadable flag may be the one that uses the condition.
  if (specs.unjudged.flags.size > 0) return [];
  const names = configFile.keys('conditions');
  const used = names.length === 0 ? new Set() : usedConditions(specs);
  return names.flatMap((name) => {
    if (used.has(name)) return [];
    const place = { file: configFile, path: ['conditions', name], at: 'key' as const };
    return [{ place, message: `no rule of this repository uses condition "${name}"` }];
  });
}

/** Compares digests. Skips empty lists, and lists that git does not manage: equality means nothing there. */
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

const MOST_INLINE = 200;

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

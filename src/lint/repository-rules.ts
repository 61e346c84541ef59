import { segmentOf } from '../model/matcher/canonical.js';
import type { DesiredKill } from '../model/desired.js';
import { isContainer, pointerOf } from '../model/json.js';
import { usedConditions } from '../specs/usage.js';
import {
  DAY_MS,
  placeOfSegment,
  type LintedRepository,
  type LintRule,
  type Place,
  type Report,
} from './rule.js';

export const REPOSITORY_RULES: readonly LintRule<LintedRepository>[] = [
  { code: 'expired', level: 'warning', find: expired },
  { code: 'kill-review-passed', level: 'warning', find: passedReviews },
  { code: 'kill-too-old', level: 'warning', find: oldKills },
  { code: 'confusable-names', level: 'warning', find: confusableNames },
  { code: 'trailing-space-key', level: 'warning', find: paddedKeys },
  { code: 'unused-segment', level: 'warning', find: unusedSegments },
  { code: 'unused-condition', level: 'warning', find: unusedConditions },
  { code: 'duplicate-segment-keys', level: 'warning', find: twinSegments },
  { code: 'many-inline-keys', level: 'warning', find: longLists },
  { code: 'stray-file', level: 'warning', find: strayFiles },
];

/** A flag is still valid on the day itself. */
function expired({ flags, today }: LintedRepository, report: Report): void {
  for (const { file, spec } of flags) {
    if (spec.expires === undefined || spec.expires >= today) continue;
    report({ file, path: ['expires'] }, `the flag was to be gone by ${spec.expires}`);
  }
}

/** Includes kills of flags that live elsewhere: the list belongs to this repository. */
function passedReviews(repository: LintedRepository, report: Report): void {
  for (const { flag, review, placeOf } of listedKills(repository)) {
    if (review === undefined || dayOf(review) >= repository.today) continue;
    report(placeOf('review'), `the kill of "${flag}" was to be reviewed on ${dayOf(review)}`);
  }
}

/** Default of `lint.killsOlderThan`, in days. */
const MOST_KILLED_DAYS = 30;

/** Skips entries without `since`: no file says how old they are. */
function oldKills(repository: LintedRepository, report: Report): void {
  const days = repository.settings.killsOlderThan ?? MOST_KILLED_DAYS;
  const first = dayOf(new Date(Date.parse(repository.today) - days * DAY_MS).toISOString());
  for (const { flag, since, review, placeOf } of listedKills(repository)) {
    if (review !== undefined || since === undefined || dayOf(since) >= first) continue;
    const message = `"${flag}" has been killed since ${dayOf(since)}, for more than ${days} days, and no "review" is set`;
    report(placeOf('since'), message);
  }
}

function listedKills({ kills, specs }: Pick<LintedRepository, 'kills' | 'specs'>): (DesiredKill & {
  placeOf: (member: string) => Place;
})[] {
  const files = new Map(specs.loaded.files.kills.map((file) => [file.path, file]));
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
function confusableNames({ flags }: LintedRepository, report: Report): void {
  const seen = CONFUSABLE.map(([formOf, how]) => {
    return { formOf, how, firstOf: new Map<string, string>() };
  });
  for (const { name, file } of flags) {
    const found = seen.flatMap(({ formOf, how, firstOf }) => {
      const first = firstOf.get(formOf(name));
      if (first === undefined) firstOf.set(formOf(name), name);
      return first === undefined ? [] : [`"${name}" differs from flag "${first}" ${how}`];
    });
    if (found[0] !== undefined) report({ file, path: ['flag'] }, found[0]);
  }
}

/** Skips key files: their lines are trimmed when read. */
function paddedKeys({ specs }: LintedRepository, report: Report): void {
  const { keys: _, ...others } = specs.loaded.files;
  for (const file of Object.values(others).flat()) {
    if (!file.valid) continue;
    eachPadded(file.value, [], (text, path, at) => {
      if (at === undefined && !KEY_PLACE.test(pointerOf(path))) return;
      report({ file, path, ...(at && { at }) }, `key "${text}" begins or ends with a space`);
    });
  }
}

/** Paths at which a text is a key: of a segment, a target, a case of a spec test, or the attribute of a condition. */
const KEY_PLACE =
  /^\/(?!treatments|identities)(?:.*\/)?(?:keys\/\d+|targets\/[^/]+\/\d+|cases\/\d+\/key|attribute)$/;

function eachPadded(
  value: unknown,
  path: string[],
  found: (text: string, path: Place['path'], at?: 'key') => void,
): void {
  if (typeof value === 'string' && value !== value.trim()) found(value, [...path]);
  if (!isContainer(value)) return;
  for (const [name, member] of Object.entries(value)) {
    path.push(name);
    if (name !== name.trim()) found(name, [...path], 'key');
    eachPadded(member, path, found);
    path.pop();
  }
}

/** Another repository may use the segment, so the message speaks of this repository only. */
function unusedSegments({ flags, segments, specs }: LintedRepository, report: Report): void {
  // An unreadable flag may be the one that uses the segment.
  if (specs.unjudged.flag.size > 0 || flags.length < specs.named.flag.size) return;
  const used = new Set<string | undefined>();
  for (const { environments } of flags) {
    for (const { definition } of environments.values()) {
      for (const { matchers } of definition?.creation.rules ?? []) {
        for (const matcher of matchers) used.add(segmentOf(matcher));
      }
    }
  }
  for (const name of segments.keys()) {
    if (used.has(name)) continue;
    const place = placeOfSegment(specs, name, ['segment']);
    report(place, `no rule of this repository names segment "${name}"`);
  }
}

/** A condition counts as used even if only other conditions use it. */
function unusedConditions({ specs, configFile: file }: LintedRepository, report: Report): void {
  // An unreadable flag may be the one that uses the condition.
  if (specs.unjudged.flag.size > 0) return;
  const names = file.keys('conditions');
  const used = names.length === 0 ? new Set() : usedConditions(specs);
  for (const name of names) {
    if (used.has(name)) continue;
    const place = { file, path: ['conditions', name], at: 'key' } as const;
    report(place, `no rule of this repository uses condition "${name}"`);
  }
}

/** Compares digests. Skips empty lists, and lists that git does not manage: equality means nothing there. */
function twinSegments({ segments, specs }: LintedRepository, report: Report): void {
  const firstOf = new Map<string, string>();
  for (const [name, { environments, trafficType }] of segments) {
    const lists = [...environments].map(([environment, { keys }]) => [environment, keys?.digest]);
    const isSaid = [...environments.values()].every(({ keys }) => (keys?.digest.count ?? 0) > 0);
    if (!isSaid || lists.length === 0) continue;
    const form = JSON.stringify([trafficType, lists]);
    const first = firstOf.get(form);
    if (first === undefined) {
      firstOf.set(form, name);
      continue;
    }
    const message = `segment "${name}" has the same keys as "${first}" in every environment`;
    report(placeOfSegment(specs, name, ['segment']), message);
  }
}

const MOST_INLINE = 200;

function longLists({ segments, specs }: LintedRepository, report: Report): void {
  for (const { file, spec } of specs.named.segment.values()) {
    if (!segments.has(spec.segment)) continue;
    for (const [environment, { keys = [] }] of Object.entries(spec.environments ?? {})) {
      if (keys.length <= MOST_INLINE) continue;
      const message = `${keys.length} keys stand in the spec itself; put them in a file and name it in keysFile`;
      report({ file, path: ['environments', environment, 'keys'] }, message);
    }
  }
}

function strayFiles({ strays }: LintedRepository, report: Report): void {
  for (const { path, advice } of strays) {
    report(path, `the file looks like a spec and is not read: ${advice}`);
  }
}

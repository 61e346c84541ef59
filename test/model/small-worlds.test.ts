import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readLog } from '../../src/git/log.js';
import { randomFrom } from '../chaos/choices.js';
import { lawSettings } from '../property/law-settings.js';
import { makeRepository } from '../support/git.js';
import { Explorer, retold, type Part } from './explorer.js';
import { commitOf, sourceAt } from './memory-git.js';
import { rememberedText } from './memory-home.js';
import { LIVE_KILLS, PARTS, type PartName } from './parts.js';
import { PLANTED, type PlantedName } from './planted.js';
import { textOf } from './small-world.js';

/** So much of each part as takes a second; `npm run test:model` goes on. */
const SAMPLE = { depth: 30, seconds: 60, transitions: 300 };

describe('a small world', () => {
  it.each(Object.keys(PARTS) as PartName[])(
    'breaks no law as far as it is explored: %s',
    async (part) => {
      const { broken, transitions } = await new Explorer(PARTS[part]).explore(SAMPLE);

      expect(broken).toBeNull();
      expect(transitions).toBeGreaterThanOrEqual(SAMPLE.transitions);
    },
  );

  const found: readonly (readonly [PlantedName, Part, string, number])[] = [
    ['base of a withheld field', PARTS['one definition'], 'overwrote by itself', 3],
    ['restore on lost state', LIVE_KILLS, 'ended a kill that no act took back', 3],
    ['write after the fence', PARTS['one definition'], 'another replica had taken over', 2],
  ];

  it.each(found)(
    'shows a planted error by a shortest story: %s',
    async (name, part, why, length) => {
      const explorer = new Explorer(part, PLANTED[name]);

      const { broken } = await explorer.explore({ depth: 4, seconds: 60 });

      expect(broken?.breaches.join('\n')).toContain(why);
      expect(broken?.story).toHaveLength(length);
      expect(await retold(part, broken?.story ?? [], PLANTED[name])).not.toEqual([]);
      expect(await retold(part, broken?.story ?? [])).toEqual([]);
    },
  );
});

it('a history without the commits that nothing names is as good as the whole one', async () => {
  const random = randomFrom(lawSettings('walks in a small world', 1).seed);
  for (let walk = 0; walk < 3; walk += 1) {
    const short = new Explorer(PARTS.whole);
    const long = new Explorer(PARTS.whole, {}, { isExact: true });
    let [a, b] = [await short.start(), await long.start()];
    const story: string[] = [];
    for (let event = 0; event < 8; event += 1) {
      const [next, same] = [await short.steps(a), await long.steps(b)];
      expect(next.map(placeOf), story.join(', ')).toEqual(same.map(placeOf));
      const at = Math.floor(random() * next.length);
      a = next[at]?.next ?? a;
      b = same[at]?.next ?? b;
      story.push(next[at]?.label ?? '');
    }
  }
});

/** What an event led to, but for the names of commits. */
function placeOf({
  label,
  breaches,
  next,
}: Awaited<ReturnType<Explorer['steps']>>[number]): unknown {
  const { world, remembered, watch } = next;
  const memory = rememberedText(remembered).replaceAll(/[0-9a-f]{40}/g, 'commit');
  return [label, breaches, textOf(world), memory, watch];
}

it('the log of a small world is what git says of the same commits', async () => {
  const repository = makeRepository();
  const files = { 'flagkeel.yaml': 'workspace: Default\n', 'flags/a.yaml': 'flag: a\n' };
  const first = commitOf(null, files, 'First');
  const second = commitOf(first, { ...files, 'flags/b.yaml': 'flag: b\n' }, 'Second');
  const third = commitOf(second, { 'flagkeel.yaml': 'workspace: Other\n' }, 'Third');
  for (const commit of [first, second, third]) {
    repository.git('rm', '-r', '--quiet', '--ignore-unmatch', '.');
    repository.commit(commit.subject, commit.files);
  }
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: repository.directory, encoding: 'utf8' });
  const told = git('log', '--format=%x01%s', '--name-only', '--no-renames').split('\x01');

  const checkout = sourceAt(third).checkout;
  const log = checkout.repository ? await readLog(checkout.repository, null, third.id) : [];
  const since = checkout.repository ? await readLog(checkout.repository, second.id, third.id) : [];

  const subjects = new Map([first, second, third].map(({ id, subject }) => [id, subject]));
  const lines = log.map(({ id, paths }) => [subjects.get(id), ...paths]);
  expect(lines).toEqual(
    told.slice(1).map((each) => each.split('\n').filter((line) => line !== '')),
  );
  expect(since.map(({ id, parents }) => [id, parents])).toEqual([[third.id, [second.id]]]);
});

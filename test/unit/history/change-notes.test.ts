import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openCheckout } from '../../../src/git/checkout.js';
import {
  attribute,
  type AttributedPart,
  type AttributionRequest,
} from '../../../src/history/change-notes.js';
import type { Forms, SnapshotsAt } from '../../../src/history/spec-history.js';
import { objectId, type ObjectRef } from '../../../src/model/ref.js';
import type { ChangeNote } from '../../../src/model/outcome.js';
import { makeDirectory, makeRepository, type TestRepository } from '../../support/git.js';

const PAY: ObjectRef = { kind: 'flag', name: 'pay', environment: 'production' };

/**
 * Stands in for the specs: the form of a flag is its file without comment lines, wherever the file lies, and the
 * defaults of the config. Lines such as `/rules 2` are fields. A file that says `invalid` makes the object unknown.
 */
const snapshotsAt: SnapshotsAt = async (tree, refs) => {
  const entries = tree.list();
  const read = async (path: string | undefined) =>
    path === undefined ? undefined : (await tree.read(path)).toString();
  const config = await read(entries.find(({ path }) => path === 'flagkeel.yaml')?.path);
  const forms = new Map<string, Forms | undefined>();
  for (const ref of refs) {
    const text = await read(entries.find(({ path }) => path.endsWith(`/${ref.name}.yaml`))?.path);
    if (text?.includes('invalid') === true) continue;
    const lines = text?.replace(/^#.*\n/gm, '').split('\n');
    const fields = lines?.map((line): [string, string] => {
      const [, path = '', value = line] = /^(\/\w+) (.*)$/.exec(line) ?? [];
      return [path, value];
    });
    forms.set(objectId(ref), fields && new Map([['config', config ?? ''], ...fields]));
  }
  return forms;
};

type Asked = Partial<AttributionRequest & AttributedPart>;

async function wordsFor(
  directory: string,
  { base = null, paths = null, isDrift = false, ...request }: Asked = {},
  options: { maxCommits?: number } = {},
): Promise<ChangeNote> {
  const checkout = await openCheckout(directory);
  onTestFinished(async () => checkout.close());
  const ref = request.ref ?? PAY;
  const whole: AttributionRequest = {
    id: objectId(ref),
    ref,
    action: 'update',
    reason: 'commit',
    parts: [{ base, paths, isDrift }],
    ...request,
  };
  const [found] = await attribute(checkout, {
    head: checkout.head,
    requests: [whole],
    snapshotsAt,
    ...options,
  });
  if (found === undefined) throw new Error('no words');
  return found;
}

let repository: TestRepository;

beforeEach(() => {
  repository = makeRepository();
});

async function titleFor(asked: Asked): Promise<string> {
  return (await wordsFor(repository.directory, asked)).title;
}

describe('attribution', () => {
  it('names every commit since the base that changed the object, the newest in the title', async () => {
    const base = repository.commit('Add pay', { 'flags/pay.yaml': '1', 'flags/other.yaml': '1' });
    const second = repository.commit('Ramp to 10 %\n\nAgreed in\nthe meeting.', {
      'flags/pay.yaml': '2',
    });
    repository.commit('Touch another', { 'flags/other.yaml': '2' });
    const third = repository.commit('Ramp to 50 %', { 'flags/pay.yaml': '3' });
    repository.commit('Explain', { 'flags/pay.yaml': '# why\n3' });

    const words = await wordsFor(repository.directory, { base });

    expect(words).toEqual({
      title: 'Ramp to 50 % (+1 more)',
      comment: [
        `${third.slice(0, 8)} Ana: Ramp to 50 %`,
        '',
        `${second.slice(0, 8)} Ana: Ramp to 10 %`,
        'Agreed in\nthe meeting.',
      ].join('\n'),
    });
  });

  it('names the author of a commit, and not the one who committed it', async () => {
    const repository = makeRepository();
    const base = repository.commit('Add', { 'flags/pay.yaml': '1' });
    const change = repository.commit('Change', { 'flags/pay.yaml': '2' });

    const { comment } = await wordsFor(repository.directory, { base });

    const [author, committer] = repository.git('log', '-1', '--format=%an%n%cn').trim().split('\n');
    expect(author).not.toBe(committer);
    expect(comment).toBe(`${change.slice(0, 8)} ${author ?? ''}: Change`);
  });

  it('takes a folder that was renamed for no change', async () => {
    const base = repository.commit('Add', { 'flags/pay.yaml': '1' });
    repository.commit('Change', { 'flags/pay.yaml': '2' });
    repository.git('mv', 'flags', 'moved');
    repository.write({ 'flags/.keep': '' });
    repository.git('mv', 'moved', 'flags/new place');
    repository.commit('Move');

    expect(await titleFor({ base })).toBe('Change');
  });

  it('sees a change of the defaults as a change of the object', async () => {
    const base = repository.commit('Add', { 'flags/pay.yaml': '1', 'flagkeel.yaml': 'a' });
    repository.commit('Change the defaults', { 'flagkeel.yaml': 'b' });

    expect(await titleFor({ base })).toBe('Change the defaults');
  });

  it('leaves a merge out, and names the commits that it brought', async () => {
    const base = repository.commit('Add', { 'flags/pay.yaml': '1', 'flags/other.yaml': '1' });
    repository.git('checkout', '-q', '-b', 'topic');
    repository.commit('Change on a branch', { 'flags/pay.yaml': '2' });
    repository.git('checkout', '-q', 'main');
    repository.commit('Meanwhile', { 'flags/other.yaml': '2' });
    repository.git('merge', '-q', '--no-ff', '-m', 'Merge topic', 'topic');

    expect(await titleFor({ base })).toBe('Change on a branch');
  });

  it('names a merge that itself makes the object what it is in no parent', async () => {
    const base = repository.commit('Add', { 'flags/pay.yaml': '1', 'flags/other.yaml': '1' });
    repository.git('checkout', '-q', '-b', 'topic');
    repository.commit('Branch', { 'flags/other.yaml': '2' });
    repository.git('checkout', '-q', 'main');
    repository.commit('Main', { 'flags/new.yaml': '1' });
    repository.git('merge', '-q', '--no-ff', '--no-commit', 'topic');
    repository.commit('Merge and more', { 'flags/pay.yaml': '3' });

    expect(await titleFor({ base })).toBe('Merge and more');
  });

  it('leaves out a merge that changed something else itself', async () => {
    const base = repository.commit('Add', { 'flags/pay.yaml': '1', 'kills/production.yaml': '' });
    repository.git('checkout', '-q', '-b', 'topic');
    repository.commit('Branch', { 'flags/pay.yaml': '2' });
    repository.git('checkout', '-q', 'main');
    repository.commit('Main', { 'flags/new.yaml': '1' });
    repository.git('merge', '-q', '--no-ff', '--no-commit', 'topic');
    repository.commit('Merge and a kill', { 'kills/production.yaml': 'x' });

    expect(await titleFor({ base })).toBe('Branch');
  });

  it('goes by file where the specs of a commit are invalid', async () => {
    const base = repository.commit('Add', { 'flags/pay.yaml': '1' });
    repository.commit('Break', { 'flags/pay.yaml': 'invalid' });
    repository.commit('Mend', { 'flags/pay.yaml': '2' });

    expect(await titleFor({ base })).toBe('Mend (+1 more)');
  });

  it('goes by file where there is too much to compare', async () => {
    const base = repository.commit('Add', { 'flags/pay.yaml': '1' });
    repository.commit('Change', { 'flags/pay.yaml': '2' });
    repository.commit('Comment only', { 'flags/pay.yaml': '# x\n2' });

    const words = await wordsFor(repository.directory, { base }, { maxCommits: 0 });

    expect(words.title).toBe('Comment only (+1 more)');
  });

  it('names the removal of a file', async () => {
    const base = repository.commit('Add', { 'flags/a.yaml': '1', 'flags/pay.yaml': '1' });
    repository.commit('Remove pay', { 'flags/pay.yaml': null });

    expect(await titleFor({ base, action: 'delete', reason: 'prune' })).toBe('Remove pay');
  });

  it('names what there is in a shallow clone', async () => {
    const base = repository.commit('Add', { 'flags/pay.yaml': '1' });
    repository.commit('Change', { 'flags/pay.yaml': '2' });
    const clone = join(makeDirectory(), 'clone');
    repository.git('clone', '-q', '--depth=1', `file://${repository.directory}`, clone);

    expect((await wordsFor(clone, { base })).title).toBe('Change');
  });

  it('names all commits of a creation or an activation, and only the newest of what has no base', async () => {
    repository.commit('Add', { 'flags/pay.yaml': '1' });
    repository.commit('Change', { 'flags/pay.yaml': '2' });

    expect(await titleFor({ action: 'create' })).toBe('Change (+1 more)');
    expect(await titleFor({ action: 'activate' })).toBe('Change (+1 more)');
    expect(await titleFor({ reason: 'adopt' })).toBe('Change');
  });

  it('says of a drift correction that it is one, and which commit comes back', async () => {
    const first = repository.commit('Ramp to 10 %', { 'flags/pay.yaml': '1' });
    const second = repository.commit('Unrelated', { 'flags/other.yaml': '1' });

    const words = await wordsFor(repository.directory, {
      base: second,
      reason: 'drift',
      isDrift: true,
    });

    expect(words.title).toBe(`Correct drift of flag/pay@production, as of ${first.slice(0, 8)}`);
    expect(words.comment).toBe(
      `Drift correction: changed outside git, corrected as of ${first.slice(0, 8)}.\n\n` +
        `${first.slice(0, 8)} Ana: Ramp to 10 %`,
    );
  });

  it('names the commits that changed the fields that are written, and no others', async () => {
    const base = repository.commit('Add', { 'flags/pay.yaml': '/rules 1\n/tags 1\n/size 1' });
    repository.commit('Ramp', { 'flags/pay.yaml': '/rules 2\n/tags 1\n/size 1' });
    repository.commit('Tag', { 'flags/pay.yaml': '/rules 2\n/tags 2\n/size 1' });
    repository.commit('Grow', { 'flags/pay.yaml': '/rules 2\n/tags 2\n/size 2' });

    expect(await titleFor({ base, paths: new Set(['/rules']) })).toBe('Ramp');
    expect(await titleFor({ base, paths: new Set(['/tags']) })).toBe('Tag');
    expect(await titleFor({ base, paths: new Set(['/size', '/rules']) })).toBe('Grow (+1 more)');
  });

  it('looks for the commits of each field since its own base', async () => {
    const base = repository.commit('Add', { 'flags/pay.yaml': '/rules 1\n/tags 1' });
    const ramped = repository.commit('Ramp', { 'flags/pay.yaml': '/rules 2\n/tags 1' });
    const tagged = repository.commit('Tag', { 'flags/pay.yaml': '/rules 2\n/tags 2' });
    const again = repository.commit('Ramp again', { 'flags/pay.yaml': '/rules 3\n/tags 2' });

    const { title, comment } = await wordsFor(repository.directory, {
      parts: [
        { base: ramped, paths: new Set(['/rules']), isDrift: false },
        { base, paths: new Set(['/tags']), isDrift: false },
      ],
    });

    expect(title).toBe('Ramp again (+1 more)');
    expect(comment).toBe(`${again.slice(0, 8)} Ana: Ramp again\n\n${tagged.slice(0, 8)} Ana: Tag`);
  });

  it('of a commit that is written with a drift correction tells both, under the title of the commit', async () => {
    const base = repository.commit('Add', { 'flags/pay.yaml': '/rules 1\n/tags 1' });
    const ramp = repository.commit('Ramp', { 'flags/pay.yaml': '/rules 2\n/tags 1' });

    const words = await wordsFor(repository.directory, {
      parts: [
        { base, paths: new Set(['/rules']), isDrift: false },
        { base, paths: new Set(['/tags']), isDrift: true },
      ],
    });

    expect(words.title).toBe('Ramp');
    expect(words.comment).toBe(
      `Drift correction: /tags changed outside git, corrected as of ${base.slice(0, 8)}.\n\n` +
        `${ramp.slice(0, 8)} Ana: Ramp`,
    );
  });

  it('lets trailers win, the newest first', async () => {
    const base = repository.commit('Add', { 'flags/pay.yaml': '1' });
    repository.commit('one\n\nBody.\n\nFlag-Title: Old\nFlag-Comment: Old comment', {
      'flags/pay.yaml': '2',
    });
    repository.commit('two\n\nBody.\n\nflag-title: Nicer\n title\n\nCo-authored-by: B <b@c>', {
      'flags/pay.yaml': '3',
    });
    repository.commit('three\n\nFlag-Title: in prose\nis no trailer', { 'flags/pay.yaml': '4' });

    expect(await wordsFor(repository.directory, { base })).toEqual({
      title: 'Nicer title',
      comment: 'Old comment',
    });
  });

  it('is never empty without git, or without a commit', async () => {
    const directory = makeDirectory();
    const words = {
      title: 'flagkeel: update flag/pay@production',
      comment: 'flagkeel: update flag/pay@production (commit)',
    };

    expect(await wordsFor(directory)).toEqual(words);
    expect(await wordsFor(repository.directory)).toEqual(words);
  });

  it('takes the text of a hostile commit for data', async () => {
    const base = repository.commit('Add', { 'flags/pay.yaml': '1' });
    repository.commit(
      `\u001b[31mRed\u001b[0m \u202Egnp.exe\u200B \u0001${'f'.repeat(40)} ${'👩'.repeat(200)}\n\n::error::x\r\n\u0007y`,
      { 'flags/pay.yaml': '2' },
    );

    const { title, comment } = await wordsFor(repository.directory, { base });

    expect(Array.from(title)).toHaveLength(100);
    expect(title).toMatch(/^\[31mRed\[0m gnp\.exe f{40} 👩+…$/u);
    expect(comment).toMatch(/\n::error::x\ny$/);
  });

  it('reads a commit once, however many objects it changed', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `pay-${index}`);
    repository.commit('Add flags', Object.fromEntries(names.map((n) => [`flags/${n}.yaml`, '1'])));
    const checkout = await openCheckout(repository.directory);
    onTestFinished(async () => checkout.close());
    const objects = checkout.repository?.objects;
    if (!objects) throw new Error('no repository');
    const read = vi.spyOn(objects, 'read');
    const requests = names.map((name): AttributionRequest => {
      const ref = { kind: 'flag', name, environment: 'production' } as const;
      const parts = [{ base: null, paths: null, isDrift: false }];
      return { id: objectId(ref), ref, action: 'create', reason: 'commit', parts };
    });

    const notes = await attribute(checkout, { head: checkout.head, requests, snapshotsAt });

    expect(notes.map(({ title }) => title)).toEqual(names.map(() => 'Add flags'));
    expect(read.mock.calls.filter(([id]) => id === checkout.head)).toHaveLength(1);
  });

  it('finds the cause in a config that lies in a folder', async () => {
    const base = repository.commit('Add', { '[ab] conf/flags/pay.yaml': '1', 'a conf/a': '1' });
    repository.commit('Change', { '[ab] conf/flags/pay.yaml': '2' });
    repository.commit('Another', { 'a conf/flags/pay.yaml': '2' });

    const words = await wordsFor(join(repository.directory, '[ab] conf'), { base });

    expect(words.title).toBe('Change');
  });
});

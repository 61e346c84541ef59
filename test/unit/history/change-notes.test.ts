import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  attribute,
  type AttributedPart,
  type AttributionRequest,
} from '../../../src/history/change-notes.js';
import type { Forms, SnapshotsAt } from '../../../src/history/spec-history.js';
import { objectId, type ObjectRef } from '../../../src/model/ref.js';
import type { ChangeNote } from '../../../src/model/outcome.js';
import {
  checkoutOf,
  makeDirectory,
  makeRepository,
  type TestRepository,
} from '../../support/git.js';

const PAY: ObjectRef = { kind: 'flag', name: 'pay', environment: 'production' };

/**
 * Stands in for the specs: the form of a flag is its file without comment lines, wherever the file lies, and the
 * defaults of the config. Lines such as `/rules 2` are fields, in which `$config` is replaced by the config. A file that says `invalid` makes the object unknown.
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
      return [path, value.replace('$config', config ?? '')];
    });
    forms.set(objectId(ref), fields && new Map([['config', config ?? ''], ...fields]));
  }
  return forms;
};

type Asked = Partial<AttributionRequest & AttributedPart>;

async function wordsFor(
  { base = null, paths = null, isDrift = false, ...request }: Asked = {},
  {
    directory = repository.directory,
    ...options
  }: { maxCommits?: number; directory?: string } = {},
): Promise<ChangeNote> {
  const checkout = await checkoutOf(directory);
  const whole: AttributionRequest = {
    ...{ id: objectId(PAY), ref: PAY, action: 'update', reason: 'commit' },
    parts: [{ base, paths, isDrift }],
    ...request,
  };
  const { head } = checkout;
  const [found] = await attribute(checkout, { head, requests: [whole], snapshotsAt, ...options });
  if (found === undefined) throw new Error('no words');
  return found;
}

let repository: TestRepository;

beforeEach(() => {
  repository = makeRepository();
});

type Files = Readonly<Record<string, string | null>>;

/** Commits one after the other; of each its text and its files. @returns their ids. */
function commits(...all: readonly (readonly [text: string, files: Files])[]): string[] {
  return all.map(([text, files]) => repository.commit(text, files));
}

const pay = (text: string | null): Files => ({ 'flags/pay.yaml': text });
const fields = (rules: number, tags: number, size = 1) =>
  pay(`/rules ${rules}\n/tags ${tags}\n/size ${size}`);
const short = (id = ''): string => id.slice(0, 8);

describe('attribution', () => {
  it('names every commit since the base that changed the object, the newest in the title', async () => {
    const [base = '', second, , third] = commits(
      ['Add pay', { 'flags/pay.yaml': '1', 'flags/other.yaml': '1' }],
      ['Ramp to 10 %\n\nAgreed in\nthe meeting.', pay('2')],
      ['Touch another', { 'flags/other.yaml': '2' }],
      ['Ramp to 50 %', pay('3')],
      ['Explain', pay('# why\n3')],
    );

    expect(await wordsFor({ base })).toEqual({
      title: 'Ramp to 50 % (+1 more)',
      comment: `${short(third)} Ana: Ramp to 50 %\n\n${short(second)} Ana: Ramp to 10 %\nAgreed in\nthe meeting.`,
    });
    const authors = repository.git('log', '-1', '--format=%an,%cn').trim().split(',');
    expect(authors[0]).toBe('Ana');
    expect(authors[1]).not.toBe('Ana');
  });

  it.each<[string, readonly (readonly [string, Files])[], Asked, string]>([
    [
      'a change of the defaults',
      [
        ['Add', { ...pay('1'), 'flagkeel.yaml': 'a' }],
        ['Change the defaults', { 'flagkeel.yaml': 'b' }],
      ],
      {},
      'Change the defaults',
    ],
    [
      'by file what commits with invalid specs changed',
      [
        ['Add', pay('1')],
        ['Break', pay('invalid')],
        ['Mend', pay('2')],
      ],
      {},
      'Mend (+1 more)',
    ],
    [
      'the removal of a file',
      [
        ['Add', { ...pay('1'), 'flags/a.yaml': '1' }],
        ['Remove pay', pay(null)],
      ],
      { action: 'delete', reason: 'prune' },
      'Remove pay',
    ],
  ])('names %s', async (_, story, asked, title) => {
    const [base = ''] = commits(...story);

    expect(await wordsFor({ base, ...asked })).toMatchObject({ title });
  });

  it('takes a folder that was renamed for no change', async () => {
    const [base = ''] = commits(['Add', pay('1')], ['Change', pay('2')]);
    repository.git('mv', 'flags', 'moved');
    repository.write({ 'flags/.keep': '' });
    repository.git('mv', 'moved', 'flags/new place');
    repository.commit('Move');

    expect(await wordsFor({ base })).toMatchObject({ title: 'Change' });
  });

  it.each<[string, Files | null, Files, string]>([
    ['the commits that a merge brought, and not the merge', pay('2'), {}, 'Side'],
    ['a merge that makes the object what it is in no parent', null, pay('3'), 'Merge'],
    ['no merge that changed something else', pay('2'), { 'kills/production.yaml': 'x' }, 'Side'],
  ])('names %s', async (_, ofSide, ofMerge, title) => {
    const [base = ''] = commits(['Add', { ...pay('1'), 'flags/other.yaml': '1' }]);
    repository.git('checkout', '-q', '-b', 'topic');
    repository.commit('Side', ofSide ?? { 'flags/other.yaml': '2' });
    repository.git('checkout', '-q', 'main');
    repository.commit('Main', { 'flags/new.yaml': '1' });
    repository.git('merge', '-q', '--no-ff', '--no-commit', 'topic');
    repository.commit('Merge', ofMerge);

    expect(await wordsFor({ base })).toMatchObject({ title });
  });

  /**
   * The branch and main change pay, or what shapes it; the merge has what main says of pay unless `ofMerge` says more,
   * and takes another flag from the branch.
   */
  function mergedWith(
    ofSide: Files,
    ofMain: Files,
    ofMerge: Files = {},
    ofBase = fields(1, 1),
  ): { base: string; main: string } {
    const [base = ''] = commits(['Add', { ...ofBase, 'flagkeel.yaml': 'a' }]);
    repository.git('checkout', '-q', '-b', 'topic');
    commits(['Side', ofSide], ['Another flag', { 'flags/other.yaml': '1' }]);
    repository.git('checkout', '-q', 'main');
    const main = repository.commit('Main', ofMain);
    repository.git('merge', '-q', '--no-ff', '--no-commit', '-Xours', 'topic');
    repository.commit('Merge', ofMerge);
    return { base, main };
  }

  it.each<[string, string, Files]>([
    ['Main', 'main', {}],
    ['Side', 'the branch', fields(2, 1)],
    ['Merge (+2 more)', 'neither', fields(4, 1)],
  ])(
    'names %s where both sides of a merge changed a field and it kept that of %s',
    async (...row) => {
      const [title, , ofMerge] = row;
      const { base } = mergedWith(fields(2, 1), fields(3, 1), ofMerge);

      expect(await wordsFor({ base })).toMatchObject({ title });
    },
  );

  it('names both sides of a merge that kept a field of each', async () => {
    const { base } = mergedWith(fields(1, 2), fields(3, 1), fields(3, 2));

    const { comment } = await wordsFor({ base });

    expect(comment).toMatch(/Ana: Side$/m);
    expect(comment).toMatch(/Ana: Main$/m);
  });

  it('names both sides of a merge where each wrote one file of two that make a field', async () => {
    const sized = (text: string): Files => pay(`/rules 1\n/size $config ${text}`);
    const { base } = mergedWith(sized('2'), { 'flagkeel.yaml': 'b' }, {}, sized('1'));

    const { comment } = await wordsFor({ base, paths: new Set(['/size']) });

    expect(comment).toMatch(/Ana: Side$/m);
    expect(comment).toMatch(/Ana: Main$/m);
  });

  it('corrects drift as of the commit whose value a merge kept, not of the newer one that it dropped', async () => {
    const { base, main } = mergedWith(fields(2, 1), fields(3, 1));

    expect(await wordsFor({ base, reason: 'drift', isDrift: true })).toMatchObject({
      title: `Correct drift of flag/pay@production, as of ${short(main)}`,
    });
  });

  it('names the commit whose value comes back where a run goes back to an older HEAD', async () => {
    const [, older, , base] = commits(
      ['Add pay', pay('1')],
      ['Ramp to 20 %', pay('2')],
      ['Touch another', { 'flags/other.yaml': '2' }],
      ['Ramp to 30 %', pay('3')],
    );
    repository.git('checkout', '-q', 'HEAD~1');

    expect(await wordsFor({ base: base ?? '' })).toEqual({
      title: 'Ramp to 20 %',
      comment: `${short(older)} Ana: Ramp to 20 %`,
    });
  });

  it('goes by file where there is too much to compare', async () => {
    const [base = ''] = commits(
      ['Add', pay('1')],
      ['Change', pay('2')],
      ['Comment only', pay('# x\n2')],
    );

    expect(await wordsFor({ base }, { maxCommits: 0 })).toMatchObject({
      title: 'Comment only (+1 more)',
    });
  });

  it('does not say of the last commit of a shallow clone that it changed what an older one may have', async () => {
    const [older = '', parent = ''] = commits(
      ['Add', pay('1')],
      ['Change', pay('2')],
      ['Correct the readme', { 'README.md': '2' }],
      ['Add another', { 'flags/cart.yaml': '1' }],
    );
    const directory = join(makeDirectory(), 'clone');
    repository.git('clone', '-q', '--depth=1', `file://${repository.directory}`, directory);

    const words = await wordsFor({ base: older }, { directory });

    expect(words.title).toBe('Add another (or older)');
    expect(words.comment).toContain('an older one may have changed it');
    const applied = repository.git('rev-parse', 'HEAD~1');
    expect((await wordsFor({ base: older, applied }, { directory })).title).toBe('Add another');
    expect((await wordsFor({ base: older, applied: parent }, { directory })).title).toContain(
      'older',
    );
  });

  it('names the commits by their files where a partial clone lacks what these said', async () => {
    const [base = ''] = commits(['Add', pay('1')], ['Change', pay('2')], ['Again', pay('3')]);
    repository.git('config', 'uploadpack.allowFilter', 'true');
    const directory = join(makeDirectory(), 'clone');
    repository.git(
      'clone',
      '-q',
      '--filter=blob:none',
      `file://${repository.directory}`,
      directory,
    );

    expect(await wordsFor({ base }, { directory })).toMatchObject({ title: 'Again (+1 more)' });
  });

  it.each<[Asked, string]>([
    [{ action: 'create' }, 'Change (+1 more)'],
    [{ action: 'activate' }, 'Change (+1 more)'],
    [{ reason: 'adopt' }, 'Change'],
  ])(
    'names all commits of a creation or an activation without a base: %j',
    async (asked, title) => {
      commits(['Add', pay('1')], ['Change', pay('2')]);

      expect(await wordsFor(asked)).toMatchObject({ title });
    },
  );

  it('says of a drift correction that it is one, and which commit comes back', async () => {
    const [first, base = ''] = commits(
      ['Ramp to 10 %', pay('1')],
      ['Unrelated', { 'flags/other.yaml': '1' }],
    );

    expect(await wordsFor({ base, reason: 'drift', isDrift: true })).toEqual({
      title: `Correct drift of flag/pay@production, as of ${short(first)}`,
      comment:
        `Drift correction: changed outside git, corrected as of ${short(first)}.\n\n` +
        `${short(first)} Ana: Ramp to 10 %`,
    });
  });

  it.each<[string[], string]>([
    [['/rules'], 'Ramp'],
    [['/tags'], 'Tag'],
    [['/size', '/rules'], 'Grow (+1 more)'],
  ])('names the commits that changed the fields %j, and no others', async (paths, title) => {
    const [base = ''] = commits(
      ['Add', fields(1, 1)],
      ['Ramp', fields(2, 1)],
      ['Tag', fields(2, 2)],
      ['Grow', fields(2, 2, 2)],
    );

    expect(await wordsFor({ base, paths: new Set(paths) })).toMatchObject({ title });
  });

  it('looks for the commits of each field since its own base', async () => {
    const [base = '', ramped = '', tagged, again] = commits(
      ['Add', fields(1, 1)],
      ['Ramp', fields(2, 1)],
      ['Tag', fields(2, 2)],
      ['Ramp again', fields(3, 2)],
    );

    const parts = [
      { base: ramped, paths: new Set(['/rules']), isDrift: false },
      { base, paths: new Set(['/tags']), isDrift: false },
    ];
    expect(await wordsFor({ parts })).toEqual({
      title: 'Ramp again (+1 more)',
      comment: `${short(again)} Ana: Ramp again\n\n${short(tagged)} Ana: Tag`,
    });
  });

  it('of a commit that is written with a drift correction tells both, under the title of the commit', async () => {
    const [base = '', ramp] = commits(['Add', fields(1, 1)], ['Ramp', fields(2, 1)]);

    const parts = [
      { base, paths: new Set(['/rules']), isDrift: false },
      { base, paths: new Set(['/tags']), isDrift: true },
    ];
    expect(await wordsFor({ parts })).toEqual({
      title: 'Ramp',
      comment:
        `Drift correction: /tags changed outside git, corrected as of ${short(base)}.\n\n` +
        `${short(ramp)} Ana: Ramp`,
    });
  });

  it('lets trailers win, the newest first', async () => {
    const [base = ''] = commits(
      ['Add', pay('1')],
      ['one\n\nBody.\n\nFlag-Title: Old\nFlag-Comment: Old comment', pay('2')],
      ['two\n\nBody.\n\nflag-title: Nicer\n title\n\nCo-authored-by: B <b@c>', pay('3')],
      ['three\n\nFlag-Title: in prose\nis no trailer', pay('4')],
    );

    expect(await wordsFor({ base })).toEqual({ title: 'Nicer title', comment: 'Old comment' });
  });

  it('is never empty without git, or without a commit', async () => {
    const title = 'flagkeel: update flag/pay@production';
    const words = { title, comment: `${title} (commit)` };

    expect(await wordsFor({}, { directory: makeDirectory() })).toEqual(words);
    expect(await wordsFor()).toEqual(words);
  });

  it('takes the text of a hostile commit for data', async () => {
    const text = `\u001b[31mRed\u001b[0m \u202Egnp.exe\u200B \u0001${'f'.repeat(40)} ${'👩'.repeat(200)}\n\n::error::x\r\n\u0007y`;
    const [base = ''] = commits(['Add', pay('1')], [text, pay('2')]);

    const { title, comment } = await wordsFor({ base });

    expect(Array.from(title)).toHaveLength(100);
    expect(title).toMatch(/^\[31mRed\[0m gnp\.exe f{40} 👩+…$/u);
    expect(comment).toMatch(/\n::error::x\ny$/);
  });

  it('reads a commit once, however many objects it changed', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `pay-${index}`);
    repository.commit('Add flags', Object.fromEntries(names.map((n) => [`flags/${n}.yaml`, '1'])));
    const checkout = await checkoutOf(repository.directory);
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
    const [base = ''] = commits(
      ['Add', { '[ab] conf/flags/pay.yaml': '1', 'a conf/a': '1' }],
      ['Change', { '[ab] conf/flags/pay.yaml': '2' }],
      ['Another', { 'a conf/flags/pay.yaml': '2' }],
    );

    const directory = join(repository.directory, '[ab] conf');
    expect(await wordsFor({ base }, { directory })).toMatchObject({ title: 'Change' });
  });
});

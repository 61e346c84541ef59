import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openForge } from '../../../src/forge/open.js';
import type { Progress } from '../../../src/model/run.js';
import {
  gitlabId,
  OUR_ACCOUNT,
  startTestForge,
  type TestComment,
  type TestForge,
} from '../../support/forge.js';

const HASH = `sha256:${'a'.repeat(64)}`;
const COMMAND = `/flagkeel approve ${HASH}`;

type Kind = 'github' | 'gitlab';

async function foundIn(forge: TestForge, kind: Kind, progress?: Progress) {
  const repository = kind === 'github' ? 'acme/flags' : '42';
  const place = { kind, apiUrl: forge.url, repository };
  const client = await openForge(place, { token: forge.token, progress });
  return client.approvals(7);
}

describe.each<Kind>(['github', 'gitlab'])('comments on %s', (kind) => {
  let forge: TestForge;

  beforeEach(async () => {
    forge = await startTestForge(kind);
    forge.members.set('ana', kind === 'github' ? 'write' : 30);
    forge.members.set('reader', kind === 'github' ? 'read' : 20);
  });

  afterEach(async () => forge.close());

  function comment(written: Partial<TestComment>): void {
    forge.comments.push({ id: forge.comments.length, author: 'ana', body: COMMAND, ...written });
  }

  it('are asked for in a phase that names the forge, before each request, and have names that no other comment has', async () => {
    const asked: unknown[] = [];
    const progress = { phase: (...of: unknown[]) => asked.push(of) } as unknown as Progress;
    comment({ id: 4711 });

    const { approvals } = await foundIn(forge, kind, progress);

    expect(approvals).toEqual([{ hash: HASH, by: 'ana', comment: `${kind} 4711` }]);
    const name = kind === 'github' ? 'GitHub' : 'GitLab';
    const phase = ['forge', `${name} (${new URL(forge.url).host})`];
    expect(asked).toEqual(forge.requests.map(() => phase));
  });

  it.each<[string, Partial<TestComment>, string?]>([
    [
      'a second before the last push',
      { createdAt: '2026-10-01T08:59:59Z' },
      'before the last push',
    ],
    [
      'in the second of the last push',
      { createdAt: '2026-10-01T09:00:00Z' },
      'before the last push',
    ],
    ['a second after the last push', { createdAt: '2026-10-01T09:00:01Z' }],
    ['that was edited', { updatedAt: '2026-10-01T10:00:01Z' }, 'edited'],
    ['of an account that may read', { author: 'reader' }, 'may not merge'],
    ['of an account that the forge does not know', { author: 'mallory' }, 'may not merge'],
    ['with more below the command', { body: `${COMMAND}\r\n\nsee CHG-17` }],
  ])('approve a plan, or say why not: one %s', async (_, written, why) => {
    comment(written);

    const { approvals, refused } = await foundIn(forge, kind);

    const by = written.author ?? 'ana';
    expect(approvals.map((each) => [each.by, each.hash])).toEqual(why ? [] : [[by, HASH]]);
    expect(refused.map((each) => [each.by, each.hash, each.why])).toEqual(
      why ? [[by, HASH, why]] : [],
    );
  });

  it('count for nothing where the forge does not date the last push', async () => {
    forge.pull.pushedAt = null;
    comment({});

    const { approvals, refused } = await foundIn(forge, kind);

    expect([approvals, refused]).toMatchObject([[], [{ why: 'before the last push' }]]);
  });

  it('approve nothing where the command is quoted, part of a text, or not as it should be', async () => {
    for (const body of [
      `> ${COMMAND}`,
      `Please write ${COMMAND}`,
      `Not yet.\n${COMMAND}`,
      `    ${COMMAND}`,
      `\`\`\`\n${COMMAND}\n\`\`\``,
      `${COMMAND}0`,
      COMMAND.slice(0, -1),
      `${COMMAND} sha256:${'b'.repeat(64)}`,
      COMMAND.toUpperCase(),
      '/flagkeel approve',
    ]) {
      comment({ body });
    }

    expect(await foundIn(forge, kind)).toEqual({ approvals: [], refused: [] });
  });
});

describe('approvals', () => {
  let forge: TestForge;
  afterEach(async () => forge.close());

  it('of bots, and of accounts that were blocked since, count for nothing on GitLab', async () => {
    forge = await startTestForge('gitlab');
    const authors = [OUR_ACCOUNT, 'who left', 'ana'];
    forge.blocked.add('who left');
    for (const author of authors) {
      forge.members.set(author, 40);
      forge.comments.push({ id: 1, author, body: COMMAND });
    }

    const { approvals, refused } = await foundIn(forge, 'gitlab');

    expect(approvals.map(({ by }) => by)).toEqual(['ana']);
    expect(refused.map(({ by, why }) => [by, why])).toEqual([
      [OUR_ACCOUNT, 'may not merge'],
      ['who left', 'may not merge'],
    ]);
  });

  it.each([
    ['cannot be asked any more', 404],
    ['is none that can be asked', 422],
  ])(
    'of a merged pull request count where its branch %s, and those of bots never',
    async (_, undated) => {
      forge = await startTestForge('github');
      forge.members.set('ana', 'write');
      forge.members.set(OUR_ACCOUNT, 'admin');
      Object.assign(forge.pull, { pushedAt: null, undated, mergedAt: '2026-10-01T09:30:00Z' });
      for (const [author, minute] of [
        ['ana', 20],
        ['ana', 40],
        [OUR_ACCOUNT, 50],
      ] as const) {
        const createdAt = `2026-10-01T09:${String(minute)}:00Z`;
        forge.comments.push({ id: minute, author, body: COMMAND, createdAt });
      }

      const { approvals, refused } = await foundIn(forge, 'github');

      expect([approvals, refused]).toMatchObject([
        [{ comment: 'github 40' }],
        [{ comment: 'github 20' }],
      ]);
    },
  );

  it.each([
    ['maintainers alone, where the branch says so', { main: [{ access_level: 40 }] }, ['lead']],
    ['nobody, where it says so', { main: [{ access_level: 0 }] }, []],
    ['who is named', { main: [{ access_level: 40, user_id: gitlabId('ana') }] }, ['ana']],
    ['maintainers alone, where a pattern says so', { 'm*n': [{ access_level: 40 }] }, ['lead']],
    [
      'those whom one of several rules allows',
      { main: [{ access_level: 0 }], '*': [{ access_level: 40 }] },
      ['lead'],
    ],
    [
      'developers, where the rules are for other branches',
      { 'main.*': [{ access_level: 40 }], '.ain': [{ access_level: 0 }] },
      ['lead', 'ana'],
    ],
    ['developers, where nothing is protected', {}, ['lead', 'ana']],
  ])('count on GitLab of %s', async (_, mergers, expected) => {
    forge = await startTestForge('gitlab');
    for (const [rule, levels] of Object.entries(mergers)) forge.mergers.set(rule, levels);
    forge.members.set('lead', 40).set('ana', 30);
    for (const author of ['lead', 'ana']) forge.comments.push({ id: 1, author, body: COMMAND });

    const { approvals } = await foundIn(forge, 'gitlab');

    expect(approvals.map(({ by }) => by)).toEqual(expected);
  });
});

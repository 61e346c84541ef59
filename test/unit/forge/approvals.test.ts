import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openForge } from '../../../src/forge/open.js';
import type { Progress } from '../../../src/model/run.js';
import { gitlabId, OUR_ACCOUNT, startTestForge, type TestForge } from '../../support/forge.js';

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
  });

  afterEach(async () => forge.close());

  function comment(author: string, body: string): void {
    forge.comments.push({ id: forge.comments.length, author, body });
  }

  async function read(): Promise<string[][]> {
    const { approvals, refused } = await foundIn(forge, kind);
    return [
      approvals.map(({ hash, by }) => `${by} ${hash}`),
      refused.map(({ hash, by, why }) => `${by} ${hash} ${why}`),
    ];
  }

  it('are asked for in a phase that names the forge, before each request', async () => {
    const asked: unknown[] = [];
    const progress = { phase: (...of: unknown[]) => asked.push(of) } as unknown as Progress;

    await foundIn(forge, kind, progress);

    const name = kind === 'github' ? 'GitHub' : 'GitLab';
    const phase = ['forge', `${name} (${new URL(forge.url).host})`];
    expect(asked).toEqual(forge.requests.map(() => phase));
  });

  it('have names that no other comment has', async () => {
    forge.members.set('ana', kind === 'github' ? 'write' : 30);
    forge.comments.push({ id: 4711, author: 'ana', body: COMMAND });

    const { approvals } = await foundIn(forge, kind);

    expect(approvals).toEqual([{ hash: HASH, by: 'ana', comment: `${kind} 4711` }]);
  });

  it.each([
    ['2026-10-01T08:59:59Z', false],
    ['2026-10-01T09:00:00Z', false],
    ['2026-10-01T09:00:01Z', true],
  ])(
    'an approval before the last push does not count (push at 09:00:00, comment at %s)',
    async (createdAt, counts) => {
      forge.members.set('ana', kind === 'github' ? 'write' : 30);
      forge.comments.push({ id: 1, author: 'ana', body: COMMAND, createdAt });

      const approval = `ana ${HASH}`;
      const refused = [[], [`${approval} before the last push`]];
      expect(await read()).toEqual(counts ? [[approval], []] : refused);
    },
  );

  it('an approval counts for nothing where the forge does not date the last push', async () => {
    forge.members.set('ana', kind === 'github' ? 'write' : 30);
    forge.pull.pushedAt = null;
    comment('ana', COMMAND);

    expect(await read()).toEqual([[], [`ana ${HASH} before the last push`]]);
  });

  it('an edited approval does not count', async () => {
    forge.members.set('ana', kind === 'github' ? 'write' : 30);
    const updatedAt = '2026-10-01T10:00:01Z';
    forge.comments.push({ id: 1, author: 'ana', body: COMMAND, updatedAt });

    expect(await read()).toEqual([[], [`ana ${HASH} edited`]]);
  });

  it('approve a plan where they begin with the command, beyond the first page too', async () => {
    forge.members.set('ana', kind === 'github' ? 'write' : 30);
    for (let i = 0; i < 120; i += 1) comment('ana', `Looks good ${String(i)}`);
    comment('ana', COMMAND);
    comment('ana', `${COMMAND}\r\n\nsee CHG-17`);

    expect(await read()).toEqual([[`ana ${HASH}`, `ana ${HASH}`], []]);
  });

  it.each([
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
  ])('approve nothing where somebody who may merge writes %j', async (body) => {
    forge.members.set('ana', kind === 'github' ? 'admin' : 50);
    comment('ana', body);

    expect(await read()).toEqual([[], []]);
  });

  it('count for nothing where the account may not merge', async () => {
    forge.members.set('reader', kind === 'github' ? 'read' : 20);
    comment('reader', COMMAND);
    comment('mallory', COMMAND);

    expect(await read()).toEqual([
      [],
      [`reader ${HASH} may not merge`, `mallory ${HASH} may not merge`],
    ]);
  });
});

it('an approval of a merged pull request counts where its branch cannot be asked any more', async () => {
  const forge = await startTestForge('github');
  forge.members.set('ana', 'write');
  Object.assign(forge.pull, { pushedAt: null, mergedAt: '2026-10-01T09:30:00Z' });
  forge.comments.push({ id: 1, author: 'ana', body: COMMAND, createdAt: '2026-10-01T09:20:00Z' });
  forge.comments.push({ id: 2, author: 'ana', body: COMMAND, createdAt: '2026-10-01T09:40:00Z' });

  const found = await foundIn(forge, 'github');

  expect(found.approvals.map((each) => each.comment)).toEqual(['github 2']);
  await forge.close();
});

describe('who may merge', () => {
  it('is no bot on GitHub, whatever it may write', async () => {
    const forge = await startTestForge('github');
    forge.members.set(OUR_ACCOUNT, 'admin');
    forge.comments.push({ id: 1, author: OUR_ACCOUNT, body: COMMAND });

    const found = await foundIn(forge, 'github');

    expect(found).toEqual({ approvals: [], refused: [] });
    await forge.close();
  });

  it.each([
    ['maintainers alone, where the branch says so', [{ access_level: 40 }], ['lead']],
    ['nobody, where it says so', [{ access_level: 0 }], []],
    ['who is named', [{ access_level: 40, user_id: gitlabId('ana') }], ['ana']],
    ['developers, where it is not protected', undefined, ['lead', 'ana']],
  ])('is on GitLab %s', async (_, mergers, expected) => {
    const forge = await startTestForge('gitlab');
    forge.mergers = mergers;
    forge.members.set('lead', 40).set('ana', 30);
    for (const author of ['lead', 'ana']) forge.comments.push({ id: 1, author, body: COMMAND });

    const { approvals } = await foundIn(forge, 'gitlab');

    expect(approvals.map(({ by }) => by)).toEqual(expected);
    await forge.close();
  });
});

import { expect, it } from 'vitest';
import { aRun, aSource, DaemonInMemory, minutesAgo } from '../../../support/daemon-view.js';
import { withPage } from '../../../support/browser.js';
import { startTestOperations, type TestOperations } from '../../../support/operations.js';
import { aChange, aReport, aWithheld } from '../../../support/plan-builder.js';
import { lacks } from '../../../support/requirements.js';
import type { GuardName } from '../../../../src/model/plan.js';

const TOKEN = 'a-token-of-the-operator';
const HASH = `sha256:${'a'.repeat(64)}`;
const OTHER = `sha256:${'b'.repeat(64)}`;

async function approve({ url }: TestOperations, body: unknown, token = TOKEN) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const request = { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`${url}/approve`, request);
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
}

/** Its newest run was refused by this guard, or waits for a window. */
function held(guard?: GuardName, name = 'shop-flags', heldHash = HASH) {
  const changes = [aChange('flag/pay@production', 'update')];
  const withheld = [aWithheld('flag/shop@production', 'update', 'window-closed')];
  const guardFindings = guard && [{ guard, environment: 'production', found: 60, limit: 5 }];
  const report = guardFindings ? aReport({ changes }, { guardFindings }) : aReport({ withheld });
  return aSource({ name, runs: [aRun({ ...report, heldHash })] });
}

it.each(['maxShift', undefined] as const)(
  'passes leave on for the hash that is held, and says in the log who gave it (%s)',
  async (guard) => {
    const daemon = new DaemonInMemory(held(guard));
    await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });

    const { status, answer } = await approve(operations, { hash: HASH, by: ' ana ', reason: 'ok' });

    const until = minutesAgo(-60);
    const asked = { source: 'shop-flags', hash: HASH, by: 'ana', reason: 'ok', until };
    expect([status, answer]).toEqual([202, { accepted: true, ...asked }]);
    expect(daemon.asked).toEqual([`approve shop-flags ${HASH} by ana until ${until}: ok`]);
    expect(operations.logged()).toContain('"by":"ana"');
    expect(operations.logged()).not.toContain(TOKEN);
  },
);

it('refuses another hash than the one that is held, with the one that is', async () => {
  const daemon = new DaemonInMemory(held());
  await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });

  const { status, answer } = await approve(operations, { hash: OTHER, by: 'ana' });

  const error = `cannot approve ${OTHER}: what is held back is ${HASH} now`;
  expect([status, answer]).toEqual([409, { error, heldHash: HASH }]);
  expect(daemon.asked).toEqual([]);
});

it.each([
  ['where nothing is held', aSource(), 'holds anything back'],
  ['of an empty repository', held('emptyRepository'), 'reconcile --force'],
  ['of another workspace', held('anotherWorkspace'), 'reconcile --force'],
])('refuses what it cannot let pass: %s', async (_, source, words) => {
  const daemon = new DaemonInMemory(source);
  await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });

  const { status, answer } = await approve(operations, { hash: HASH, by: 'ana' });

  expect([status, answer['heldHash']]).toEqual([409, null]);
  expect(answer['error']).toContain(words);
  expect(daemon.asked).toEqual([]);
});

it.each([
  [{ hash: HASH }, '"by"'],
  [{ hash: HASH, by: ' ' }, '"by"'],
  [{ hash: HASH, by: 'x'.repeat(101) }, '"by"'],
  [{ hash: HASH, by: 'ana\u202e' }, '"by" must be one line'],
  [{ hash: HASH.slice(0, 20), by: 'ana' }, '"hash"'],
  [{ by: 'ana' }, '"hash"'],
  [{ hash: HASH, by: 'ana', reason: 'x'.repeat(501) }, '"reason"'],
  [{ hash: HASH, by: 'ana', force: 'yes' }, 'no field'],
])('does nothing for a body that is no use: %j', async (body, words) => {
  const daemon = new DaemonInMemory(held());
  await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });

  const { status, answer } = await approve(operations, body);

  expect(status).toBe(400);
  expect(answer['error']).toContain(words);
  expect(daemon.asked).toEqual([]);
});

it.each(['\n', '\r\n', '\u0085', '\u2028', '\u0000', '\u001b[31m'])(
  'by with a line break is refused, and so is a control character: %j',
  async (character) => {
    const daemon = new DaemonInMemory(held());
    await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });

    const by = `ana${character}approved by the board`;
    const { status, answer } = await approve(operations, { hash: HASH, by });

    expect(status).toBe(400);
    expect(answer['error']).toContain('"by" must be one line, without control characters');
    expect(daemon.asked).toEqual([]);
  },
);

it('lets nobody approve without a token, and nothing be meant where there are two sources', async () => {
  const daemon = new DaemonInMemory(held(), held(undefined, 'bank-flags'));
  await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });
  await using off = await startTestOperations(daemon);

  const answers = [
    await approve(operations, { hash: HASH, by: 'ana' }, 'a-guess'),
    await approve(off, { hash: HASH, by: 'ana' }),
    await approve(operations, { hash: HASH, by: 'ana' }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([401, 403, 400]);
  expect(daemon.asked).toEqual([]);
});

it.skipIf(lacks('chromium'))(
  'the button of the page asks for the plan that was seen, though the page shows another by then, and forgets the token',
  async () => {
    const daemon = new DaemonInMemory(held('maxShift'));
    await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });

    const seen = await withPage(`${operations.url}/`, {}, async (page) => {
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: 'Approve' }).click();
      const says = await dialog.locator('#ask-says, #ask-evidence').allInnerTexts();
      daemon.show(held('maxShift', 'shop-flags', OTHER));
      await page.locator(`button[data-says*="${OTHER}"]`).waitFor({ state: 'attached' });
      daemon.show(held('maxShift'));
      await dialog.getByLabel('Your name').fill('ana');
      await dialog.getByLabel('Token').fill(TOKEN);
      await dialog.getByRole('button', { name: 'Approve' }).click();
      await dialog.waitFor({ state: 'hidden' });
      await page.getByRole('button', { name: 'Sync' }).click();
      return { says, token: await dialog.getByLabel('Token').inputValue() };
    });

    expect(seen.token).toBe('');
    expect(seen.says.map((text) => text.trim())).toEqual([
      `1 change refused by a guard (maxShift). The next run writes it, if the plan still has the hash ${HASH}.`,
      expect.stringContaining(
        'Limit: production: up to 60 % of the traffic gets another treatment, the limit is 5 % (maxShift)',
      ),
    ]);
    expect(daemon.asked).toEqual([
      `approve shop-flags ${HASH} by ana until ${minutesAgo(-60)}: no reason given`,
    ]);
  },
);

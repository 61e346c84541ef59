import { describe, expect, it } from 'vitest';
import { aServedWorld, applicationKey } from '../support/applications.js';
import { ruleOn } from '../support/service-calls.js';

/** What OpenFeature's remote evaluation protocol asks. */
const world = aServedWorld();

const PATH = '/ofrep/v1/evaluate/flags';
const ask = async (
  flag: string | null,
  context: object | undefined,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: unknown; etag: string | null }> => {
  const path = flag === null ? PATH : `${PATH}/${flag}`;
  const answer = await world.send('POST', path, { body: JSON.stringify({ context }), headers });
  const text = await answer.text();
  const body = text === '' ? undefined : (JSON.parse(text) as unknown);
  return { status: answer.status, body, etag: answer.headers.get('etag') };
};

describe('one flag', () => {
  it('is a truth value where its treatments are on and off, with the configuration, or what a kill serves', async () => {
    const defaultRule = [{ treatment: 'on', size: 100 }];
    await world.admin.define('switch', {
      treatments: [{ name: 'on', configurations: '{"steps":1}' }, { name: 'off' }],
      defaultRule,
    });
    await world.admin.define('dead', { killed: true, defaultRule });

    const metadata = { configuration: '{"steps":1}' };
    const on = { key: 'switch', value: true, variant: 'on', reason: 'STATIC', metadata };
    expect([
      await ask('switch', { targetingKey: 'ana' }),
      await ask('dead', { targetingKey: 'ana' }),
    ]).toMatchObject([
      { status: 200, body: on },
      { status: 200, body: { value: false, reason: 'DISABLED' } },
    ]);
  });

  it('is the name of a treatment where there are others, by the attributes of the context', async () => {
    await world.admin.define('colour', {
      treatments: [{ name: 'red' }, { name: 'blue' }],
      defaultTreatment: 'red',
      baselineTreatment: 'red',
      rules: [ruleOn({ type: 'IN_LIST_STRING', attribute: 'country', strings: ['ES'] }, 'blue')],
      defaultRule: [{ treatment: 'red', size: 100 }],
    });
    const inSpain = await ask('colour', { targetingKey: 'ana', country: 'ES' });
    const elsewhere = await ask('colour', { targetingKey: 'ana' });

    expect(inSpain.body).toMatchObject({ value: 'blue', reason: 'TARGETING_MATCH' });
    expect(elsewhere.body).toMatchObject({ value: 'red', reason: 'TARGETING_MATCH' });
  });

  it('is not decided by the attributes of an identity, which are for viewing alone', async () => {
    await world.admin.define('viewed', {
      rules: [ruleOn({ type: 'IN_LIST_STRING', attribute: 'country', strings: ['ES'] })],
    });
    const identities = '/trafficTypes/user/environments/staging/identities';
    await world.admin.ok('POST', identities, [{ key: 'eva', values: { country: 'ES' } }]);

    const { body } = await ask('viewed', { targetingKey: 'eva' });

    expect(body).toMatchObject({ value: false });
    await world.admin.ok('DELETE', '/splits/ws/Default/viewed');
  });

  it('is a split where hashing decides, and the same for the same key', async () => {
    await world.admin.define('split', {
      defaultRule: [
        { treatment: 'on', size: 50 },
        { treatment: 'off', size: 50 },
      ],
    });
    const keys = Array.from({ length: 200 }, (_, index) => `key-${index}`);
    const values = async (): Promise<unknown[]> => {
      const asked = keys.map(async (targetingKey) => ask('split', { targetingKey }));
      return (await Promise.all(asked)).map(({ body }) => body);
    };
    const first = await values();

    expect(first).toContainEqual(expect.objectContaining({ value: true, reason: 'SPLIT' }));
    expect(first).toContainEqual(expect.objectContaining({ value: false, reason: 'SPLIT' }));
    expect(await values()).toEqual(first);
  });

  it('depends on the segments that hold the key', async () => {
    await world.admin.segment('beta');
    await world.admin.define('for-beta', {
      rules: [ruleOn({ type: 'IN_SEGMENT', string: 'beta' })],
    });
    const before = await ask('for-beta', { targetingKey: 'bo' });
    await world.admin.ok('PUT', '/segments/staging/beta/uploadKeys', { keys: ['bo'] });
    const after = await ask('for-beta', { targetingKey: 'bo' });

    expect([before.body, after.body]).toMatchObject([{ value: false }, { value: true }]);
  });

  it('fails in the words of OpenFeature', async () => {
    await world.admin.define('of-tomorrow', { rules: [ruleOn({ type: 'OF_TOMORROW' })] });
    const broken = await world.send('POST', `${PATH}/switch`, { body: '{"context":' });

    expect([
      await ask('nothing', { targetingKey: 'ana' }),
      await ask('switch', {}),
      await ask('of-tomorrow', { targetingKey: 'ana' }),
    ]).toMatchObject([
      { status: 404, body: { key: 'nothing', errorCode: 'FLAG_NOT_FOUND' } },
      { status: 400, body: { key: 'switch', errorCode: 'TARGETING_KEY_MISSING' } },
      { status: 400, body: { errorCode: 'GENERAL' } },
    ]);
    expect([broken.status, await broken.json()]).toMatchObject([400, { errorCode: 'PARSE_ERROR' }]);
  });
});

it('all flags are answered once, until a flag or a segment of the key changes', async () => {
  const context = { targetingKey: 'cleo', plan: 'pro' };
  const askAgain = async ({ etag }: { etag: string | null }, more = {}) =>
    ask(null, { ...context, ...more }, { 'if-none-match': etag ?? '' });
  const first = await ask(null, context);
  const again = await askAgain(first);
  const other = await askAgain(first, { plan: 'free' });
  await world.admin.ok('PUT', '/segments/staging/beta/uploadKeys', { keys: ['cleo'] });
  const joined = await askAgain(first);
  await world.admin.ok('PUT', '/splits/ws/Default/split/environments/staging/kill');
  const killed = await askAgain(joined);

  expect([first, again, other, joined, killed].map(({ status }) => status)).toEqual([
    200, 304, 200, 200, 200,
  ]);
  expect(first.body).toMatchObject({
    flags: [{ key: 'colour' }, { key: 'dead' }, { key: 'for-beta' }, {}, {}, {}],
  });
});

it('an application of OpenFeature needs the key of an application, of either type', async () => {
  const body = JSON.stringify({ context: { targetingKey: 'ana' } });
  const keys = [await applicationKey(world.service, 'client_side'), world.service.key, 'none'];
  const answers = keys.map(async (key) => world.send('POST', `${PATH}/switch`, { key, body }));

  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 401, 401]);
});

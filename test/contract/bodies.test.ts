import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WireDefinition, WireFlag } from '../../src/admin-api/wire.js';
import { aDefinition, callsOf, ruleOn, type ServiceCalls } from '../support/service-calls.js';
import { startTestService, TEST_SEED, type TestService } from '../support/service.js';

/**
 * What bodies may say and what they may not, by nothing but the endpoints that the contract shows.
 */
let service: TestService;
let client: ServiceCalls;

beforeAll(async () => {
  service = await startTestService({ seed: TEST_SEED });
  client = callsOf(service);
});

afterAll(async () => {
  await service.stop();
});

const FLAGS = '/splits/ws/Default/trafficTypes/user';
const pathOf = (flag: string, environment = 'staging'): string =>
  `/splits/ws/Default/${flag}/environments/${environment}`;

/** A flag with a definition in staging. */
async function defined(name: string, changed: object = {}): Promise<WireDefinition> {
  await client.ok<WireFlag>('POST', FLAGS, { name });
  return client.ok('POST', pathOf(name), aDefinition(changed));
}

describe('a patch', () => {
  it.each(
    ['/trafficAllocation', '/killed', '/defaultTreatment'].flatMap((path) => [
      [path, 'null', { op: 'replace', path, value: null }] as const,
      [path, 'removal', { op: 'remove', path }] as const,
    ]),
  )('refuses a patch that leaves %s to chance by %s', async (path, how, operation) => {
    const name = `kept-${path.slice(1)}-${how}`;
    const before = await defined(name, { killed: true, trafficAllocation: 5 });

    const answer = await client.call('PATCH', pathOf(name), [operation]);

    expect(answer.status).toBe(400);
    expect(await client.ok('GET', pathOf(name))).toEqual(before);
  });

  it('takes away what is optional', async () => {
    const rules = [ruleOn({ type: 'BOOLEAN', attribute: 'paid', bool: true })];
    await defined('lightened', { rules });

    const after = await client.ok<WireDefinition>('PATCH', pathOf('lightened'), [
      { op: 'remove', path: '/rules' },
      { op: 'remove', path: '/treatments/0/description' },
    ]);

    expect(after.rules).toEqual([]);
    expect(after.treatments[0]).toEqual({ name: 'on', description: '' });
  });
});

describe('keys of treatments', () => {
  const keysOf = ({ treatments }: WireDefinition) => treatments.map(({ keys }) => keys);

  it('echoes an empty list of keys, and no list where none was sent', async () => {
    const treatments = [{ name: 'on', description: '', keys: [] }, { name: 'off' }];

    const created = await defined('empty-keys', { treatments });

    expect(keysOf(created)).toEqual([[], undefined]);
    expect(await client.ok('GET', pathOf('empty-keys'))).toEqual(created);
  });

  it('adds a key to any treatment, also to one without keys', async () => {
    await defined('first-key', {
      treatments: [{ name: 'on' }, { name: 'off' }, { name: 'third' }],
    });

    const after = await client.ok<WireDefinition>('PATCH', pathOf('first-key'), [
      { op: 'add', path: '/treatments/1/keys/-', value: 'a' },
      { op: 'add', path: '/treatments/1/keys/-', value: 'b' },
    ]);

    expect(keysOf(after)).toEqual([undefined, ['a', 'b'], undefined]);
  });

  it('adds a key to a treatment whose last key left', async () => {
    await defined('last-key', { treatments: [{ name: 'on', keys: ['a'] }, { name: 'off' }] });
    const path = pathOf('last-key');

    const left = await client.ok<WireDefinition>('PATCH', path, [
      { op: 'remove', path: '/treatments/0/keys/0' },
    ]);
    const after = await client.ok<WireDefinition>('PATCH', path, [
      { op: 'add', path: '/treatments/0/keys/-', value: 'b' },
    ]);

    expect(keysOf(left)).toEqual([[], undefined]);
    expect(keysOf(after)).toEqual([['b'], undefined]);
  });
});

describe('names of treatments', () => {
  it.each(['true', 'constructor', '__proto__', 'toString'])(
    'takes a treatment that is called %s',
    async (name) => {
      const flag = `named-${name}`;
      const created = await defined(flag, {
        treatments: [
          { name, description: 'd', keys: ['a'] },
          { name: 'off', description: '' },
        ],
        defaultTreatment: name,
        baselineTreatment: name,
        defaultRule: [{ treatment: name, size: 100 }],
      });

      const after = await client.ok<WireDefinition>('PATCH', pathOf(flag), [
        { op: 'add', path: '/treatments/0/keys/-', value: 'b' },
        { op: 'replace', path: '/killed', value: true },
      ]);

      expect(created).toMatchObject({ defaultTreatment: name, baselineTreatment: name });
      expect(after.treatments).toEqual([
        { name, description: 'd', keys: ['a', 'b'] },
        { name: 'off', description: '' },
      ]);
      const [change] = await service.audit({ kind: 'flag', name: flag, environment: 'staging' });
      expect(change?.difference).toContainEqual({
        path: `/targets/${name}`,
        added: 1,
        removed: 0,
        sample: ['b'],
      });
    },
  );
});

describe('a body', () => {
  it.each([
    ['a misspelt percentage', { trafficAlocation: 5 }],
    ['a bucket of two sizes', { defaultRule: [{ treatment: 'off', size: 100, sise: 5 }] }],
    ['an id of another flag', { id: '6f1c2f4e-0000-4000-8000-000000000000' }],
    ['the name of another flag', { name: 'another' }],
    ['another environment', { environment: { name: 'production' } }],
    ['another environment by its name alone', { environment: 'production' }],
    ['another traffic type', { trafficType: { name: 'account' } }],
  ])('that defines a flag is refused with %s', async (what, wrong) => {
    const name = `wrong-${what.replaceAll(' ', '-')}`;
    await client.ok('POST', FLAGS, { name });

    const answer = await client.call('POST', pathOf(name), aDefinition(wrong));

    expect(answer.status).toBe(400);
    expect((await client.call('GET', pathOf(name))).status).toBe(404);
    await client.ok('POST', pathOf(name), aDefinition());
  });

  it('that was read in one environment is refused in another', async () => {
    const read = await defined('carried');

    const answer = await client.call('POST', pathOf('carried', 'production'), read);

    expect(answer.status).toBe(400);
    expect((await client.call('GET', pathOf('carried', 'production'))).status).toBe(404);
  });

  it.each([
    ['POST', FLAGS, { name: 'odd', descripton: 'd' }],
    ['POST', FLAGS, { name: 'odd', trafficType: { name: 'account' } }],
    ['POST', '/segments/ws/Default/trafficTypes/user', { name: 'odd', keys: ['a'] }],
    ['PUT', '/segments/staging/odd/removeKeys', { keys: ['a'], coment: 'c' }],
  ])('of %s %s with a member that nobody knows is refused: %j', async (method, path, body) => {
    const answer = await client.call(method, path, body);

    expect(answer).toMatchObject({ status: 400 });
    expect(answer.body).toMatchObject({
      message: expect.stringContaining('has no member') as string,
    });
  });
});

describe('a strict service', () => {
  let strict: TestService;
  let theirs: ServiceCalls;

  beforeAll(async () => {
    strict = await startTestService({ seed: TEST_SEED, strict: true });
    theirs = callsOf(strict);
    await theirs.ok('POST', FLAGS, { name: 'to-the-letter' });
    await theirs.ok('POST', pathOf('to-the-letter'), aDefinition());
    await theirs.ok('POST', '/segments/ws/Default/trafficTypes/user', { name: 'letters' });
    await theirs.ok('POST', '/segments/staging/letters');
  });

  afterAll(async () => {
    await strict.stop();
  });

  it.each([
    { op: 'test', path: '/killed', value: false },
    { op: 'copy', from: '/defaultTreatment', path: '/baselineTreatment' },
    { op: 'move', from: '/treatments/0', path: '/treatments/1' },
  ])('knows no patch operation but replace, add and remove: $op', async (operation) => {
    const own = { ...operation, from: '/description', path: '/description', value: '' };

    expect((await theirs.call('PATCH', pathOf('to-the-letter'), [operation])).status).toBe(400);
    expect((await theirs.call('PATCH', '/splits/ws/Default/to-the-letter', [own])).status).toBe(
      400,
    );
    await theirs.ok('PATCH', pathOf('to-the-letter'), [
      { op: 'replace', path: '/killed', value: false },
    ]);
  });

  it('takes an upload of keys as a bare array alone', async () => {
    const path = '/segments/staging/letters/upload';
    const form =
      '--x\r\nContent-Disposition: form-data; name="file"; filename="keys.csv"\r\n\r\na\r\n--x--';

    expect((await theirs.call('PUT', path, { keys: ['a'] })).status).toBe(400);
    expect((await theirs.send('PUT', path, form)).status).toBe(400);
    await theirs.ok('PUT', path, ['a']);
  });

  it('takes a key as Authorization: Bearer alone', async () => {
    const url = `${strict.origin}/internal/api/v2/workspaces`;

    const other = await fetch(url, { headers: { 'x-api-key': strict.key } });
    const bearer = await fetch(url, { headers: { authorization: `Bearer ${strict.key}` } });

    expect([other.status, bearer.status]).toEqual([401, 200]);
  });
});

import { describe, expect, it } from 'vitest';
import type { WireDefinition } from '../../src/admin-api/wire.js';
import { expectAnswers } from '../support/exchanges.js';
import { at, callsOf, ruleOn } from '../support/service-calls.js';
import { aService } from '../support/service.js';

/** Requests that are small or legal, and whose work would hold up everybody else. */
const service = aService();
const client = callsOf(service);

const FLAGS = '/splits/ws/Default/trafficTypes/user';
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** A flag with a definition in staging; gives the path of the definition. */
async function defined(name: string, changed: object = {}): Promise<string> {
  await client.define(name, changed);
  return at(name);
}

/** Sends a patch that is to be refused, and makes sure that nothing of it is left. */
async function refused(path: string, operations: unknown): Promise<string> {
  const before = await client.ok('GET', path);
  const { status, body } = await client.call('PATCH', path, operations);
  expect(status).toBe(400);
  expect(await client.ok('GET', path)).toEqual(before);
  return (body as { message: string }).message;
}

describe('a patch', () => {
  it('that nests the definition ever deeper is refused, or nobody could restore it', async () => {
    const nest = '/rules/0/condition/matchers/0/x';
    const path = await defined('nested', { rules: [ruleOn({ type: 'UNKNOWN', x: {} })] });
    const deeper = [
      { op: 'add', path: '/y', value: {} },
      { op: 'move', from: nest, path: '/y/x' },
      { op: 'move', from: '/y', path: nest },
    ];

    const why = await refused(path, many(3_000, () => deeper).flat());

    expect(why).toBe('What the patch makes is nested more than 64 levels deep');
    await client.ok('PUT', `${path}/kill`);
    await client.ok('PUT', `${path}/restore`);
  });

  it('that shifts a long list again and again is refused', async () => {
    const keys = many(9_000, (index) => `k${index}`);
    const path = await defined('shifted', { treatments: [{ name: 'on', keys }, { name: 'off' }] });
    const first = (count: number) =>
      many(count, (index) => ({ op: 'add', path: '/treatments/0/keys/0', value: `n${index}` }));

    expect(await refused(path, first(9_000))).toBe('Patch shifts too many elements of lists');
    const after = await client.ok<WireDefinition>('PATCH', path, first(1_000));

    expect(after.treatments[0]?.keys).toHaveLength(10_000);
  });

  it('of a definition that names more segments than a statement takes is refused for the first', async () => {
    const path = await defined('segments');
    const names = many(36_000, (index) => `s${index}`);

    expect(await refused(path, [{ op: 'add', path: '/treatments/0/segments', value: names }])).toBe(
      'There is no segment s0 active in staging',
    );
  });
});

describe('a body', () => {
  it('larger than what it is for is refused before it is read', async () => {
    const path = await defined('large');
    const text = 'x'.repeat(1024 * 1024);

    const segment = await client.segment('large');
    const keys = many(10_000, (index) => String(index).padEnd(1_000, 'k'));

    await expectAnswers(
      client,
      [413, 'PATCH', path, [{ op: 'test', path: '/killed', value: text }]],
      [413, 'POST', FLAGS, { name: 'larger', description: text }],
      [413, 'PUT', `${segment}/upload`, ['x'.repeat(17 * 1024 * 1024)]],
      [200, 'PUT', `${segment}/upload`, keys],
    );
  });

  it('of more values than any request needs is refused before it is parsed', async () => {
    const path = '/segments/staging/any/upload';

    const brackets = await client.send('PUT', path, `[${'[],'.repeat(300_000)}[]]`);
    const text = await client.call('PUT', path, ['[{,:'.repeat(300_000)]);

    expect(brackets).toMatchObject({
      status: 400,
      body: { message: 'Body holds too many values' },
    });
    expect(text.body).not.toMatchObject({ message: 'Body holds too many values' });
  });

  it('with a file of more lines than keys are taken at one time is refused', async () => {
    const file = '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n';

    const answer = await client.send(
      'PUT',
      '/segments/staging/any/upload',
      `${file}${'k\n'.repeat(200_000)}\r\n--x--`,
    );

    expect(answer.body).toMatchObject({ message: 'The file has more than 100000 lines' });
  });
});

it('identities with twenty attributes each come back ten thousand at a time', async () => {
  const path = '/trafficTypes/user/environments/staging/identities';
  const values = Object.fromEntries(many(20, (index) => [`a${index}`, 'v']));

  const { objects } = await client.ok<{ objects: object[] }>(
    'POST',
    path,
    many(10_000, (index) => ({ key: `k${index}`, values })),
  );

  expect(objects).toHaveLength(10_000);
  expect(objects.at(-1)).toMatchObject({ key: 'k9999', values });
});

import { describe, expect, it } from 'vitest';
import { API_PREFIX, type WirePage, type WireSegmentKeys } from '../../src/admin-api/wire.js';
import { type Answer, callsOf } from '../support/service-calls.js';
import { descriptionOf } from '../support/service-description.js';
import { aService } from '../support/service.js';

const service = aService();
const client = callsOf(service);
let names = 0;

/** A new segment, active in staging. */
async function segmentPath(...keys: string[]): Promise<string> {
  names += 1;
  await client.segment(`seg-${names}`);
  if (keys.length > 0) await client.ok('PUT', `/segments/staging/seg-${names}/upload`, keys);
  return `/segments/staging/seg-${names}`;
}

async function keysAt(path: string): Promise<string[]> {
  return (await client.ok<WireSegmentKeys>('GET', `${path}/keys`)).keys.map(({ key }) => key);
}

interface Form {
  readonly file?: string | Uint8Array<ArrayBuffer>;
  readonly payload?: string;
  /** Default: that of the form itself. */
  readonly type?: string;
}

async function sendForm(path: string, { file, payload, type }: Form): Promise<Answer['status']> {
  const form = new FormData();
  if (file !== undefined) form.set('file', new Blob([file], { type: 'text/csv' }), 'keys.csv');
  if (payload !== undefined) form.set('payload', payload);
  const answer = await fetch(`${service.origin}${API_PREFIX}${path}`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${service.key}`,
      ...(type === undefined ? {} : { 'content-type': type }),
    },
    body: form,
  });
  await answer.text();
  return answer.status;
}

/** Whether the service describes a form with this file as one that it takes. */
async function isDescribed({ file }: Form): Promise<boolean> {
  const description = await descriptionOf(service.origin);
  return description.takes('PUT', '/segments/staging/any/upload', { file }, 'multipart/form-data');
}

describe('a file of keys', () => {
  const asJson = { file: 'a\n', type: 'application/json' };
  const quoted = { file: '"a,b"\n"say ""c"""\n' };
  it.each<[string, string, Form, string[]]>([
    [
      'adds its lines, whatever ends them',
      '',
      { file: '\uFEFFa\r\nb\n\n c \n' },
      ['a', 'b', 'c', 'there'],
    ],
    ['replaces the keys where that is asked for', '?replace=True', { file: 'a\nb' }, ['a', 'b']],
    ['may be sent under the type of JSON', '', asJson, ['a', 'there']],
    ['holds keys with commas and quotes', '', quoted, ['a,b', 'say "c"', 'there']],
    ['may be empty', '', { file: '' }, ['there']],
  ])('%s', async (_, query, form, keys) => {
    const path = await segmentPath('there');

    expect(await sendForm(`${path}/upload${query}`, form)).toBe(200);

    expect(await keysAt(path)).toEqual(keys);
    expect(await isDescribed(form)).toBe(true);
  });

  it('comes with title and comment in its payload', async () => {
    const path = await segmentPath();
    const payload = JSON.stringify({ title: 'from a file', comment: 'of friday' });

    expect(await sendForm(`${path}/upload`, { file: 'a', payload })).toBe(200);

    const log = await client.ok<WirePage<unknown>>('GET', '/auditLog/ws/Default?limit=1');
    expect(log.objects).toMatchObject([{ title: 'from a file', comment: 'of friday' }]);
  });

  it('has at most as many keys as another upload', async () => {
    const path = await segmentPath('there');
    const lines = (count: number): Form => ({
      file: Array.from({ length: count }, (_, index) => `k${index}`).join('\n'),
    });

    expect(await sendForm(`${path}/upload`, lines(10_001))).toBe(400);
    expect(await keysAt(path)).toEqual(['there']);

    expect(await sendForm(`${path}/upload`, lines(10_000))).toBe(200);
  });

  it.each<[string, Form]>([
    ['has two columns', { file: 'a\nb,c\n' }],
    ['has a quotation mark in a key', { file: 'a"b' }],
    ['has a quotation mark alone', { file: '"a' }],
    ['is not UTF-8', { file: Uint8Array.of(0x61, 0xe9, 0x0a) }],
    ['is not in the form', { payload: '{}' }],
    ['comes with a payload that is no object', { file: 'a', payload: 'no' }],
    ['comes with a comment that is no text', { file: 'a', payload: '{"comment":1}' }],
  ])('that %s is refused and changes nothing', async (_, form) => {
    const path = await segmentPath('there');

    expect(await sendForm(`${path}/upload`, form)).toBe(400);

    expect(await keysAt(path)).toEqual(['there']);
    if (typeof form.file === 'string' && form.payload === undefined) {
      expect(await isDescribed(form)).toBe(false);
    }
  });
});

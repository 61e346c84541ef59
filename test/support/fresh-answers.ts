import { expect } from 'vitest';
import { API_PREFIX } from '../../src/admin-api/wire.js';
import { aDefinition, callsOf, ruleOn } from './service-calls.js';
import type { TestService } from './service.js';

/** Every kind of write, in an order in which each is taken. */
const WRITES: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['POST', '/splits/ws/Default/trafficTypes/user', { name: 'f' }],
  ['POST', '/splits/ws/Default/trafficTypes/user', { name: 'g' }],
  ['POST', '/segments/ws/Default/trafficTypes/user', { name: 's' }],
  ['POST', '/segments/staging/s'],
  ['PUT', '/segments/staging/s/upload', ['a', 'b', 'c']],
  ['PUT', '/segments/staging/s/removeKeys', { keys: ['a'], comment: 'c' }],
  ['PUT', '/segments/staging/s/uploadKeys?replace=true', { keys: ['d'] }],
  ['PUT', '/segments/staging/s/deleteKeys', ['d']],
  ['POST', '/splits/ws/Default/f/environments/staging', aDefinition()],
  [
    'POST',
    '/splits/ws/Default/g/environments/staging',
    aDefinition({ rules: [ruleOn({ type: 'IN_SEGMENT', string: 's' })] }),
  ],
  [
    'PATCH',
    '/splits/ws/Default/f/environments/staging',
    [{ op: 'replace', path: '/trafficAllocation', value: 50 }],
  ],
  ['PUT', '/splits/ws/Default/f/environments/staging', aDefinition({ trafficAllocation: 7 })],
  ['PUT', '/splits/ws/Default/f/environments/staging/kill'],
  ['PUT', '/splits/ws/Default/f/environments/staging/restore'],
  ['PATCH', '/splits/ws/Default/f', [{ op: 'replace', path: '/description', value: 'new' }]],
  ['PUT', '/splits/ws/Default/f/updateDescription', 'newer'],
  ['POST', '/tags/ws/Default/object/f/objecttype/Split', ['a', 'b']],
  [
    'POST',
    '/trafficTypes/user/environments/staging/identities',
    [{ key: 'k', values: { plan: 'pro' } }],
  ],
  ['PATCH', '/environments/ws/Default/staging', [{ op: 'replace', path: '/name', value: 'test' }]],
  ['PATCH', '/environments/ws/Default/test', [{ op: 'replace', path: '/name', value: 'staging' }]],
  ['POST', '/trafficTypes/ws/Default', { name: 'device' }],
  ['POST', '/environments/ws/Default', { name: 'dev' }],
  ['DELETE', '/environments/ws/Default/dev'],
  ['POST', '/workspaces', { name: 'Other' }],
  ['PATCH', '/workspaces/Other', [{ op: 'replace', path: '/name', value: 'Another' }]],
  ['DELETE', '/workspaces/Another'],
  ['DELETE', '/splits/ws/Default/g/environments/staging'],
  ['DELETE', '/segments/staging/s'],
  ['DELETE', '/segments/ws/Default/s'],
  ['DELETE', '/splits/ws/Default/f'],
];

const QUESTIONS = [
  '/workspaces',
  '/environments/ws/Default',
  '/trafficTypes/ws/Default',
  '/splits/ws/Default',
  '/splits/ws/Default/f',
  '/splits/ws/Default/environments/staging',
  '/splits/ws/Default/f/environments/staging',
  '/splits/ws/Default/f/environments/test',
  '/splits/ws/Default/g/environments/staging',
  '/segments/ws/Default',
  '/segments/ws/Default/s',
  '/segments/ws/Default/environments/staging',
  '/segments/staging/s/keys',
  '/auditLog/ws/Default',
];

/** A key that never asked has no answers that could be remembered. */
async function freshKeys(service: TestService): Promise<string[]> {
  const keys: string[] = [];
  for (const [index] of WRITES.entries()) keys.push(await service.createKey(`fresh-${index}`));
  return keys;
}

/** Status and text by question. Refusals have a number of their own, so of them the status alone. */
async function answersOf({ origin }: TestService, key: string): Promise<Map<string, string>> {
  const headers = { authorization: `Bearer ${key}` };
  return new Map(
    await Promise.all(
      QUESTIONS.map(async (question): Promise<[string, string]> => {
        const answer = await fetch(`${origin}${API_PREFIX}${question}`, { headers });
        const text = await answer.text();
        return [question, answer.status === 200 ? text : String(answer.status)];
      }),
    ),
  );
}

/**
 * Makes every kind of change at one service, and expects of another over the same store that it answers each question
 * as if it had never been asked.
 */
export async function expectFreshAnswers(writer: TestService, reader: TestService): Promise<void> {
  const writes = callsOf(writer);
  const keys = await freshKeys(writer);
  for (const [index, [method, path, body]] of WRITES.entries()) {
    await answersOf(reader, writer.key);
    await writes.ok(method, path, body);

    const fresh = await answersOf(reader, keys[index] ?? '');
    expect(await answersOf(reader, writer.key), `${method} ${path}`).toEqual(fresh);
  }
}

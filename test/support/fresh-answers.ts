import { expect } from 'vitest';
import { API_PREFIX } from '../../src/admin-api/wire.js';
import { replacing } from './exchanges.js';
import { aDefinition, at, callsOf, ruleOn, type Request } from './service-calls.js';
import type { TestService } from './service.js';

const FLAGS = '/splits/ws/Default';
const SEGMENT = '/segments/staging/s';
const ENVIRONMENTS = '/environments/ws/Default';
const IN_S = aDefinition({ rules: [ruleOn({ type: 'IN_SEGMENT', string: 's' })] });

/** Every kind of write, in an order in which each is taken. */
const WRITES: readonly Request[] = [
  ['POST', `${FLAGS}/trafficTypes/user`, { name: 'g' }],
  ['POST', '/segments/ws/Default/trafficTypes/user', { name: 's' }],
  ['POST', SEGMENT],
  ['PUT', `${SEGMENT}/upload`, ['a', 'b', 'c']],
  ['PUT', `${SEGMENT}/removeKeys`, { keys: ['a'], comment: 'c' }],
  ['PUT', `${SEGMENT}/uploadKeys?replace=true`, { keys: ['d'] }],
  ['PUT', `${SEGMENT}/deleteKeys`, ['d']],
  ['POST', at('f'), aDefinition()],
  ['POST', at('g'), IN_S],
  ['PATCH', at('f'), replacing('/trafficAllocation', 50)],
  ['PUT', at('f'), aDefinition({ trafficAllocation: 7 })],
  ['PUT', `${at('f')}/kill`],
  ['PUT', `${at('f')}/restore`],
  ['PATCH', `${FLAGS}/f`, replacing('/description', 'new')],
  ['PUT', `${FLAGS}/f/updateDescription`, 'newer'],
  ['POST', '/tags/ws/Default/object/f/objecttype/Split', ['a', 'b']],
  ['POST', '/trafficTypes/user/environments/staging/identities', [{ key: 'k', values: {} }]],
  ['PATCH', `${ENVIRONMENTS}/staging`, replacing('/name', 'test')],
  ['PATCH', `${ENVIRONMENTS}/test`, replacing('/name', 'staging')],
  ['POST', '/trafficTypes/ws/Default', { name: 'device' }],
  ['POST', ENVIRONMENTS, { name: 'dev' }],
  ['DELETE', `${ENVIRONMENTS}/dev`],
  ['POST', '/workspaces', { name: 'Other' }],
  ['PATCH', '/workspaces/Other', replacing('/name', 'Another')],
  ['DELETE', '/workspaces/Another'],
  ['DELETE', at('g')],
  ['DELETE', SEGMENT],
  ['DELETE', '/segments/ws/Default/s'],
  ['DELETE', `${FLAGS}/f`],
];

const QUESTIONS = [
  ...['/workspaces', ENVIRONMENTS, '/trafficTypes/ws/Default', '/auditLog/ws/Default'],
  ...[FLAGS, `${FLAGS}/f`, `${FLAGS}/environments/staging`],
  ...[at('f'), at('f', 'test'), at('g')],
  ...['/segments/ws/Default', '/segments/ws/Default/s', `${SEGMENT}/keys`],
  '/segments/ws/Default/environments/staging',
];

/** A key that never asked has no answers that could be remembered. */
async function freshKeys(service: TestService): Promise<string[]> {
  const keys: string[] = [];
  for (const [index] of WRITES.entries()) keys.push(await service.createKey(`fresh-${index}`));
  return keys;
}

/** Status and text by question. Refusals have a number of their own, so of them the status alone. */
async function answersOf(
  { origin }: TestService,
  key: string,
  questions: readonly string[],
): Promise<Map<string, string>> {
  const headers = { authorization: `Bearer ${key}` };
  return new Map(
    await Promise.all(
      questions.map(async (question): Promise<[string, string]> => {
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
  // What is written by the name of a flag is asked for by its id too.
  const { id } = await writes.flag('f');
  const questions = [...QUESTIONS, `${FLAGS}/${id}`, at(id)];
  for (const [index, [method, path, body]] of WRITES.entries()) {
    await answersOf(reader, writer.key, questions);
    await writes.ok(method, path, body);

    const fresh = await answersOf(reader, keys[index] ?? '', questions);
    expect(await answersOf(reader, writer.key, questions), `${method} ${path}`).toEqual(fresh);
  }
}

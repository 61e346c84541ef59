import { expect, it } from 'vitest';
import { replacing } from '../support/exchanges.js';
import { aDefinition, at, callsOf, ruleOn, type Request } from '../support/service-calls.js';
import { useStores } from '../support/stores.js';

const { aStore, start } = useStores();

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

/** What was read is kept until a change makes it untrue: on PostgreSQL, a change by another service. */
it('an answer is as if its question had never been asked, after every kind of change', async () => {
  const location = await aStore();
  const writer = await start(location);
  const reader = location.kind === 'postgres' ? await start(location) : writer;
  const client = callsOf(writer);
  // A key that never asked has no answers that could be remembered.
  const fresh: string[] = [];
  for (const [index] of WRITES.entries()) fresh.push(await writer.createKey(`fresh-${index}`));
  // What is written by the name of a flag is asked for by its id too.
  const { id } = await client.flag('f');
  const questions = [...QUESTIONS, `${FLAGS}/${id}`, at(id)];
  /** Refusals have a number of their own, so of them the status alone. */
  const answersTo = async (key: string): Promise<unknown> => {
    const asking = callsOf({ origin: reader.origin, key });
    const answers = questions.map(async (question) => {
      const { status, text } = await asking.call('GET', question);
      return [question, status === 200 ? text : status];
    });
    return Promise.all(answers);
  };

  for (const [index, [method, path, body]] of WRITES.entries()) {
    await answersTo(writer.key);
    await client.ok(method, path, body);

    const wanted = await answersTo(fresh[index] ?? '');
    expect(await answersTo(writer.key), `${method} ${path}`).toEqual(wanted);
  }
});

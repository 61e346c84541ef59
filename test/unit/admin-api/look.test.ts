import { expect, it } from 'vitest';
import { look, type Look } from '../../../src/admin-api/look.js';
import { byLine, errorReply } from '../../support/http.js';
import {
  closeAfterEach,
  httpFixture,
  wireDefinition,
  wireFlag,
} from '../../support/http-fixture.js';

const [BY_NAME, BY_ID, FLAG, FLAGS] = [
  'GET /splits/ws/w/f/environments/env-staging',
  'GET /splits/ws/w/id-f/environments/env-staging',
  'GET /splits/ws/w/f',
  'GET /splits/ws/w',
] as const;
closeAfterEach();

const DEFINITION = { status: 200, body: wireDefinition('f') };

const NO_FLAGS = { status: 200, body: { objects: [], offset: 0, limit: 50, totalCount: 0 } };
const PLACE = { workspaceId: 'w', environmentId: 'env-staging' };

interface Situation {
  /** The service answers 404 to all else. */
  readonly script?: Parameters<typeof byLine>[0];
  readonly id?: string;
  readonly flags?: Parameters<typeof look>[3];
}

it.each<[string, Situation, Look['is'], readonly string[]]>([
  [
    'asks by the name, and by nothing else where that finds the definition',
    { script: { [BY_NAME]: [DEFINITION] }, id: 'id-f' },
    'seen',
    [BY_NAME],
  ],
  [
    'asks by the id that is remembered where the name finds nothing',
    { script: { [BY_ID]: [DEFINITION] }, id: 'id-f' },
    'seen',
    [BY_NAME, BY_ID],
  ],
  [
    'asks for the flag where no id is remembered, and by the id that it has',
    { script: { [FLAG]: [{ status: 200, body: wireFlag('f') }], [BY_ID]: [DEFINITION] } },
    'seen',
    [BY_NAME, FLAG, BY_ID],
  ],
  [
    'calls absent what neither the name nor the id finds',
    { id: 'id-f' },
    'absent',
    [BY_NAME, BY_ID, FLAG],
  ],
  [
    'asks by no id twice',
    { script: { [FLAG]: [{ status: 200, body: wireFlag('f') }] }, id: 'id-f' },
    'absent',
    [BY_NAME, BY_ID, FLAG],
  ],
  ['knows nothing where no id is known, and no flags are shown', {}, 'unknown', [BY_NAME, FLAG]],
  [
    'calls absent what the list of all flags does not have, where the caller wants the list',
    { script: { [FLAGS]: [NO_FLAGS] }, flags: 'list' },
    'absent',
    [BY_NAME, FLAG, FLAGS],
  ],
  [
    'sends no request about the flag where the caller has asked for it',
    { flags: 'asked' },
    'unknown',
    [BY_NAME],
  ],
])('%s', async (_, { script = {}, id, flags }, is, lines) => {
  const { reader, server } = await httpFixture(byLine(script));

  const seen = await look(reader, PLACE, { name: 'f', id }, flags);

  expect(seen).toMatchObject(is === 'seen' ? { is, definition: { name: 'f' } } : { is });
  expect(server.lines().map((line) => line.split('?')[0])).toEqual(lines);
});

it('fails where a request fails, and calls nothing absent', async () => {
  const { reader } = await httpFixture(() => errorReply(403));
  await expect(look(reader, PLACE, { name: 'f' })).rejects.toThrow();
});

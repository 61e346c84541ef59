import { expect, it } from 'vitest';
import { look, type Look, type LookOptions } from '../../../src/admin-api/look.js';
import { byLine, errorReply } from '../../support/http.js';
import {
  closeAfterEach,
  httpFixture,
  wireDefinition,
  wireFlag,
} from '../../support/http-fixture.js';

const [BY_NAME, BY_ID, FLAG, FLAGS] = [
  'GET /splits/ws/w/f/environments/e-1',
  'GET /splits/ws/w/id-f/environments/e-1',
  'GET /splits/ws/w/f',
  'GET /splits/ws/w',
] as const;
closeAfterEach();

const DEFINITION = { status: 200, body: wireDefinition('f') };

/** Looks at the definition of `f`, on a service that answers 404 to all else. */
async function looked(
  script: Parameters<typeof byLine>[0],
  id?: string,
  options: LookOptions = {},
): Promise<{ readonly seen: Look; readonly lines: readonly string[] }> {
  const { reader, server } = await httpFixture(byLine(script));
  const place = { workspaceId: 'w', environmentId: 'e-1' };
  const seen = await look(reader, place, { name: 'f', id }, options);
  return { seen, lines: server.lines().map((line) => line.split('?')[0] ?? '') };
}

it('asks by the name, and by nothing else where that finds the definition', async () => {
  const { seen, lines } = await looked({ [BY_NAME]: [DEFINITION] }, 'id-f');
  expect(seen).toMatchObject({ is: 'seen', definition: { name: 'f' } });
  expect(lines).toEqual([BY_NAME]);
});

it('asks by the id that is remembered where the name finds nothing', async () => {
  const { seen, lines } = await looked({ [BY_ID]: [DEFINITION] }, 'id-f');
  expect(seen).toMatchObject({ is: 'seen' });
  expect(lines).toEqual([BY_NAME, BY_ID]);
});

it('asks for the flag where no id is remembered, and by the id that it has', async () => {
  const flag = { status: 200, body: wireFlag('f') };
  const { seen, lines } = await looked({ [FLAG]: [flag], [BY_ID]: [DEFINITION] });
  expect(seen).toMatchObject({ is: 'seen' });
  expect(lines).toEqual([BY_NAME, FLAG, BY_ID]);
});

it('calls absent what neither the name nor the id finds', async () => {
  const { seen, lines } = await looked({}, 'id-f');
  expect(seen).toEqual({ is: 'absent' });
  expect(lines).toEqual([BY_NAME, BY_ID, FLAG]);
});

it('knows nothing where the name finds nothing, no id is known, and no flags are shown', async () => {
  expect((await looked({})).seen).toEqual({ is: 'unknown' });
});

it('calls absent what the list of all flags does not have, where the caller wants the list', async () => {
  const page = { status: 200, body: { objects: [], offset: 0, limit: 50, totalCount: 0 } };
  const { seen } = await looked({ [FLAGS]: [page] }, undefined, { flags: 'list' });
  expect(seen).toEqual({ is: 'absent' });
});

it('sends no request about the flag where the caller has asked for it', async () => {
  const { seen, lines } = await looked({}, undefined, { flags: 'asked' });
  expect(seen).toEqual({ is: 'unknown' });
  expect(lines).toEqual([BY_NAME]);
});

it('fails where a request fails, and calls nothing absent', async () => {
  const { reader } = await httpFixture(() => errorReply(403));
  const place = { workspaceId: 'w', environmentId: 'e-1' };
  await expect(look(reader, place, { name: 'f' })).rejects.toThrow();
});

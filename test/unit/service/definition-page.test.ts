import { afterEach, expect, it } from 'vitest';
import { lookUpDefinitions, lookUpPlace } from '../../../src/service/store/definition-lookups.js';
import { openStore, type Store } from '../../../src/service/store/store.js';
import { startTestService, type TestService } from '../../support/service.js';
import { callsOf } from '../../support/service-calls.js';
import { makeDirectory } from '../../support/git.js';

let service: TestService;
let store: Store;

afterEach(async () => {
  await store.close();
  await service.stop();
});

it('a page is not shown as the end of its list where a definition came between its number and its rows', async () => {
  const location = { kind: 'directory', path: makeDirectory() } as const;
  service = await startTestService({ store: location });
  store = await openStore(location, { beside: true });
  const client = callsOf(service);
  await client.define('b');
  await client.define('c');
  const whole = { offset: 0, limit: 2 };
  const names = ['Default', 'staging'] as const;

  const place = await lookUpPlace(store.lookUp, names);
  if (!place) throw new Error('there is no such place');
  expect(await lookUpDefinitions(store.lookUp, place, whole)).toMatchObject({ totalCount: 2 });
  await client.define('a');
  expect(await lookUpDefinitions(store.lookUp, place, whole)).toBeUndefined();
});

import { it } from 'vitest';
import { expectFreshAnswers } from '../support/fresh-answers.js';
import { useStores } from '../support/stores.js';

const { aStore, start } = useStores();

/** What was read is kept until a change makes it untrue: on PostgreSQL, a change by another service. */
it('an answer is as if its question had never been asked, after every kind of change', async () => {
  const location = await aStore();
  const writer = await start(location);
  const reader = location.kind === 'postgres' ? await start(location) : writer;

  await expectFreshAnswers(writer, reader);
});

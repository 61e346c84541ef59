import { expect, it } from 'vitest';
import { statusPage } from '../../../../src/daemon/page/status-page.js';
import { healthOf } from '../../../../src/daemon/health.js';
import { watchedWorld, type InProcessDaemon } from '../../../support/in-process-daemon.js';
import { flagSpec } from '../../../support/pipeline-world.js';

const WRONG = 'name: pay\nsurprise: 1\n';
const INVALID = { why: 'invalid-file' };
const SINCE = { ...INVALID, since: expect.any(String) as string };

const pageOf = ({ daemon }: InProcessDaemon): string =>
  statusPage(daemon, { now: Date.now(), takesRequests: false })
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

it('a flag that was killed by hand is unknown while its file is invalid, is shown as it was last, and is as any other again', async () => {
  const { world, watched, follow } = await watchedWorld(['pay', 'search']);
  const { live } = world;
  await live.ok('PUT', `/splits/ws/${live.id}/pay/environments/${live.staging}/kill`);
  await watched.run();
  expect(watched.view.liveKills.map(({ id }) => id)).toEqual(['flag/pay@staging']);

  await follow('Break pay', { 'flags/pay.yaml': WRONG });

  const { runs, flags, liveKills, standings } = watched.view;
  expect(runs[0]?.result).toBe('degraded');
  expect(flags[0]).toMatchObject({
    total: 2,
    flags: [{ name: 'pay', invalid: true, serves: { killed: true } }, { name: 'search' }],
  });
  expect(liveKills).toMatchObject([{ id: 'flag/pay@staging', invalid: true }]);
  expect(standings?.objects).toMatchObject([
    { id: 'flag/pay@production', standing: INVALID },
    { id: 'flag/pay@staging', standing: SINCE },
    { id: 'flag/pay', standing: SINCE },
  ]);
  const staging = healthOf(watched.view).environments.find(({ name }) => name === 'staging');
  expect(staging).toMatchObject({ standing: 'unknown', liveKills: 1 });
  for (const words of [
    /last seen \d\d:\d\d UTC: killed : everybody gets off \? unknown \(invalid file\)/,
    /\(invalid file, as last known\) flag\/pay@staging : /,
    /Not as git orders flag\/pay@production .* flag\/pay unknown \(invalid file\), since .* as of /,
  ]) {
    expect(pageOf(watched)).toMatch(words);
  }

  await follow('Mend pay', { 'flags/pay.yaml': flagSpec('pay') });
  await watched.run();

  const mended = watched.view.flags[0]?.flags.map(({ invalid }) => invalid);
  expect(mended).toEqual([undefined, undefined]);
  expect(watched.view.liveKills[0]?.invalid).toBeUndefined();
  expect(watched.view.standings?.counts.unknown).toBe(0);
});

it.each([
  ['a new flag', 'flags/other.yaml', null, { objects: [{ id: 'flag/other' }] }],
  ['a flag that was there', 'flags/pay.yaml', flagSpec('pay'), { counts: { live: 0 } }],
])(
  'a bad merge of %s leaves nothing behind once it is reverted, without a look at everything',
  async (...row) => {
    const [, path, before, broken] = row;
    const { watched, follow } = await watchedWorld(['pay']);
    const { counts, lookedAt } = watched.view.standings ?? {};

    await follow('Merge it', { [path]: 'flag: other\ntrafic: user\n' });
    expect(watched.view.standings).toMatchObject(broken);
    await follow('Revert it', { [path]: before });

    expect(watched.view.standings).toMatchObject({ objects: [], whole: 'live', counts, lookedAt });
    expect(healthOf(watched.view).verdict.headline).toMatch(/^In sync: \d+ objects equal$/);
  },
);

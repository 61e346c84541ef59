import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { statusPage } from '../../../../src/daemon/page/status-page.js';
import { healthOf } from '../../../../src/daemon/health.js';
import type { Files } from '../../../support/git.js';
import { InProcessDaemon } from '../../../support/in-process-daemon.js';
import {
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../../support/pipeline-world.js';

const words = (html: string): string => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

describe('a flag that somebody killed by hand, and whose file a commit then breaks', () => {
  let world: PipelineWorld;
  let watched: InProcessDaemon;

  const pageText = (): string =>
    words(statusPage(watched.daemon, { now: Date.now(), takesRequests: false }));

  beforeEach(async () => {
    world = await pipelineWorld();
    world.repository.commit('Add two flags', {
      'flagkeel.yaml': PIPELINE_CONFIG,
      'flags/pay.yaml': flagSpec('pay'),
      'flags/search.yaml': flagSpec('search'),
    });
    watched = new InProcessDaemon(world.repository.directory, world.service);
    onTestFinished(async () => watched.daemon.stop('SIGTERM'));
    watched.daemon.start();
    await watched.rest(1);
    const { live } = world;
    await live.ok('PUT', `/splits/ws/${live.id}/pay/environments/${live.staging}/kill`);
    await watched.run();
    expect(watched.view.liveKills.map(({ id }) => id)).toEqual(['flag/pay@staging']);
    world.repository.commit('Break pay', { 'flags/pay.yaml': 'name: pay\nsurprise: 1\n' });
    await watched.run();
  });

  it('keeps flag, live kill and last value on the page, marked as an invalid file', () => {
    expect(watched.view.runs[0]?.result).toBe('degraded');
    const [staging] = watched.view.flags;
    expect(staging?.total).toBe(2);
    expect(staging?.flags).toMatchObject([
      { name: 'pay', invalid: true, serves: { killed: true } },
      { name: 'search' },
    ]);
    expect(watched.view.liveKills).toMatchObject([{ id: 'flag/pay@staging', invalid: true }]);
    expect(pageText()).toMatch(
      /last seen \d\d:\d\d UTC: killed : everybody gets off \? unknown \(invalid file\)/,
    );
    expect(pageText()).toMatch(/\(invalid file, as last known\) flag\/pay@staging : /);
  });

  it('says of each of its objects that it is unknown, and since when', () => {
    const { objects = [] } = watched.view.standings ?? {};

    expect(objects).toMatchObject([
      { id: 'flag/pay@production', standing: { why: 'invalid-file' } },
      {
        id: 'flag/pay@staging',
        standing: { why: 'invalid-file', since: expect.any(String) as string },
      },
      { id: 'flag/pay', standing: { why: 'invalid-file', since: expect.any(String) as string } },
    ]);
    const staging = healthOf(watched.view).environments.find(({ name }) => name === 'staging');
    expect(staging).toMatchObject({ standing: 'unknown', liveKills: 1 });
    expect(pageText()).toMatch(
      /Not as git orders flag\/pay@production .* flag\/pay unknown \(invalid file\), since .* as of /,
    );
  });

  it('is as any other again when its file is valid', async () => {
    world.repository.commit('Mend pay', { 'flags/pay.yaml': flagSpec('pay') });
    await watched.run();

    expect(watched.view.flags[0]?.flags.map(({ invalid }) => invalid)).toEqual([
      undefined,
      undefined,
    ]);
    expect(watched.view.liveKills[0]?.invalid).toBeUndefined();
    expect(watched.view.standings?.counts.unknown).toBe(0);
  });
});

describe('a new flag that a bad merge brings with an invalid file', () => {
  let world: PipelineWorld;
  let watched: InProcessDaemon;

  /** Follows a commit as a poll does, which looks at what changed alone. */
  const follow = async (message: string, files: Files): Promise<void> => {
    world.repository.commit(message, files);
    watched.daemon.trigger(null, 'webhook');
    await watched.rest(watched.runs.length + 1);
  };

  beforeEach(async () => {
    world = await pipelineWorld();
    world.repository.commit('Add pay', {
      'flagkeel.yaml': PIPELINE_CONFIG,
      'flags/pay.yaml': flagSpec('pay'),
    });
    watched = new InProcessDaemon(world.repository.directory, world.service);
    onTestFinished(async () => watched.daemon.stop('SIGTERM'));
    watched.daemon.start();
    await watched.rest(1);
  });

  it('has no standing any more after a revert, without a look at everything', async () => {
    const before = watched.view.standings;
    await follow('Merge other', { 'flags/other.yaml': 'flag: other\ntrafic: user\n' });
    expect(watched.view.standings?.objects).toMatchObject([{ id: 'flag/other' }]);

    await follow('Revert it', { 'flags/other.yaml': null });

    expect(watched.view.standings).toMatchObject({
      ...{ objects: [], whole: 'live', counts: before?.counts },
      lookedAt: before?.lookedAt,
    });
    expect(healthOf(watched.view).verdict.headline).toMatch(/^In sync: \d+ objects equal$/);
  });

  it('leaves a flag that it spoilt as it was before, after a revert', async () => {
    const before = watched.view.standings;
    await follow('Merge no flag', { 'flags/pay.yaml': 'flag: pay\ntrafic: user\n' });
    expect(watched.view.standings?.counts).toMatchObject({ live: 0 });

    await follow('Revert it', { 'flags/pay.yaml': flagSpec('pay') });

    expect(watched.view.standings).toMatchObject({ objects: [], counts: before?.counts });
  });
});

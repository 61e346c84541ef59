import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { startOperations } from '../../../../src/daemon/http/operations.js';
import type { SourceView } from '../../../../src/daemon/view.js';
import { createLog } from '../../../../src/platform/log.js';
import { aLiveFlag } from '../../../support/daemon-story.js';
import {
  aRun,
  aSource,
  appliedReport,
  DaemonInMemory,
  minutesAgo,
  sourceAfter,
} from '../../../support/daemon-view.js';
import { startTestOperations } from '../../../support/operations.js';
import { aLiveKill, aReport, COMMIT } from '../../../support/plan-builder.js';
import { aStory } from '../../../support/plan-builder-story.js';

const DOWN = { what: 'service', why: 'no connection', since: minutesAgo(4) } as const;
const STORY = aRun(appliedReport(aStory()));
const TOLD = aSource({
  runs: [STORY],
  flags: [{ environment: 'production', total: 1, flags: [aLiveFlag('pay', 25)] }],
});

async function get(source: SourceView, ...paths: readonly string[]) {
  await using operations = await startTestOperations(new DaemonInMemory(source));
  return await Promise.all(
    paths.map(async (path) => {
      const { status, headers, text } = await fetch(operations.url + path).then(async (answer) => ({
        ...{ status: answer.status, headers: answer.headers, text: await answer.text() },
      }));
      return { path, status, headers, text };
    }),
  );
}

describe('a private daemon', () => {
  const PATHS = ['/', '/status', '/metrics', '/events', '/runs/none', '/runs/none/plan', '/none'];
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

  it('shows nothing to nobody without a token, and asks a browser for one, but says whether it lives', async () => {
    const options = { tokens: ['t-bob bob read'], isPrivate: true };
    await using operations = await startTestOperations(new DaemonInMemory(aSource()), options);
    const ask = async (path: string, authorization?: string, method = 'GET') => {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await fetch(operations.url + path, { method, headers });
      await answer.body?.cancel();
      return answer;
    };

    for (const path of PATHS) {
      const none = await ask(path);
      expect(none.headers.get('www-authenticate')).toContain('Basic realm="flagkeel"');
      const refused = [
        none,
        ...[await ask(path, undefined, 'HEAD'), await ask(path, 'Bearer x')],
        await ask(path, basic('bob:x')),
      ];
      expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
      const shown = [await ask(path, 'Bearer t-bob'), await ask(path, basic('anybody:t-bob'))];
      expect(shown.some(({ status }) => status === 401)).toBe(false);
    }
    const open = [await ask('/healthz'), await ask('/readyz')];
    expect(open.map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('/healthz and /readyz', () => {
  const noSync = 'no run has come to an end since the start';
  it.each<[string, Partial<SourceView>, number, readonly string[]]>([
    ['when all is there', {}, 200, []],
    ['before the first run succeeded', { firstSync: false }, 503, [noSync]],
    ['as a standby', { firstSync: false, leader: false }, 200, []],
    ['without the service', { troubles: [DOWN] }, 503, ['service not reachable: no connection']],
  ])('%s', async (_, members, status, missing) => {
    const [health, ready] = await get(aSource(members), '/healthz', '/readyz');

    expect([health?.status, ready?.status]).toEqual([200, status]);
    expect(JSON.parse(ready?.text ?? '')).toEqual({
      ready: status === 200,
      sources: [{ name: 'shop-flags', missing }],
    });
  });
});

const wrong = {
  severity: 'error',
  ...{ code: 'unknown-field', message: 'no field "trafic"' },
  ...{ file: 'flags/pay.yaml', line: 3, column: 1 },
} as const;
const kill = { id: 'flag/pay@production', reason: 'INC-1', by: null, since: null };

describe('/status', () => {
  const schema = JSON.parse(
    readFileSync(new URL('../../../../schemas/status.schema.json', import.meta.url), 'utf8'),
  ) as object;
  const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);

  it.each<[string, SourceView, object]>([
    ['in line', aSource(), { ready: true }],
    [
      'after a story',
      TOLD,
      { ready: true, environments: [{ name: null }, { drift: 1, lastChange: STORY.id }, {}] },
    ],
    [
      'with a flag that is killed on the service and not by git',
      sourceAfter({ liveKills: [aLiveKill('flag/pay@production', { commit: COMMIT })] }),
      { liveKills: [{ id: 'flag/pay@production', seen: null, commit: COMMIT }] },
    ],
    [
      'of a broken commit, and with a flag that git kills',
      aSource({
        runs: [
          aRun(null, { result: 'invalid', diagnostics: [wrong] }),
          aRun(aReport(), { kills: [kill] }),
        ],
      }),
      { runs: [{ diagnostics: [wrong] }, { kills: [kill] }] },
    ],
    [
      'before anything',
      aSource({
        ...{ runs: [], seen: null, applied: null, service: null, workspace: null },
        environments: [],
      }),
      { runs: [] },
    ],
    [
      'held and failing',
      aSource({
        runs: [aRun(null, { result: 'failed', exitCode: 6, commit: null, subject: null })],
        suspended: { reason: 'INC-1', until: null },
        pinned: { reason: 'INC-1', until: minutesAgo(-5), commit: COMMIT },
        ...{ troubles: [DOWN], nextRetry: minutesAgo(-1), phase: 'backing-off' },
      }),
      { ready: false, phase: 'backing-off' },
    ],
  ])('keeps to its schema %s, and leaves reports to their own address', async (...row) => {
    const [, source, expected] = row;
    const [answer] = await get(source, '/status');
    const document: unknown = JSON.parse(answer?.text ?? '');

    expect(validate(document) ? [] : validate.errors).toEqual([]);
    expect(document).toMatchObject({ sources: [expected] });
    expect(answer?.text).not.toContain('defaultRule');
  });
});

it('every page has its address, what is not there is not found, and no answer is kept, guessed at or framed', async () => {
  const found = ['/', '/status', '/metrics', '/flags/shop-flags/pay', `/runs/${STORY.id}`];
  const lost = ['/runs/none', '/runs/none/plan', '/runs/..%2fstatus', '/nothing'];
  const plan = `/runs/${STORY.id}/plan`;

  const answers = await get(
    TOLD,
    ...found,
    plan,
    ...lost,
    '/flags/shop-flags/none',
    '/flags/x/pay',
  );

  expect(answers.filter(({ status }) => status === 200).map(({ path }) => path)).toEqual([
    ...[...found, plan],
  ]);
  expect(answers.filter(({ status }) => status !== 200 && status !== 404)).toEqual([]);
  // What the command would have printed as JSON.
  const shown = answers.find(({ path }) => path === plan)?.text ?? '';
  expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify(STORY.plan)));
  for (const { headers } of answers) {
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  }
});

it('the end of the server does not wait for a page that follows it, and a taken port and an address of another machine are errors of their own; none leaves a listener behind', async () => {
  const daemon = new DaemonInMemory(aSource());
  const operations = await startTestOperations(daemon);
  const following = await fetch(`${operations.url}/events`);
  const before = daemon.listeners;
  const log = createLog({ level: 'silent', format: 'json', stream: { write: () => undefined } });

  const port = Number(new URL(operations.url).port);
  await expect(startOperations(daemon, { port, log })).rejects.toMatchObject({ code: 'IN_USE' });
  const elsewhere = startOperations(daemon, { host: '192.0.2.1', port: 0, log });
  await expect(elsewhere).rejects.toMatchObject({ code: 'USAGE' });
  expect(daemon.listeners).toBe(before);

  await operations[Symbol.asyncDispose]();
  expect(await following.text()).toContain('retry:');
  expect(daemon.listeners).toBe(0);
});

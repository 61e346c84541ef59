import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { startOperations } from '../../../../src/daemon/http/operations.js';
import { createLog } from '../../../../src/platform/log.js';
import {
  aRun,
  aSource,
  appliedReport,
  DaemonInMemory,
  minutesAgo,
} from '../../../support/daemon-view.js';
import { startTestOperations } from '../../../support/operations.js';
import { aLiveKill, aReport, COMMIT } from '../../../support/plan-builder.js';
import { aStory } from '../../../support/plan-builder-story.js';

const DOWN = {
  what: 'service',
  why: 'no connection (ECONNREFUSED)',
  since: minutesAgo(4),
} as const;

describe('a private daemon', () => {
  const PATHS = ['/', '/status', '/metrics', '/events', '/runs/none', '/runs/none/plan', '/none'];
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

  it.each(PATHS)('shows %s to nobody without a token, and asks a browser for one', async (path) => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await startTestOperations(daemon, {
      tokens: ['t-bob bob read'],
      isPrivate: true,
    });
    const ask = async (authorization?: string, method = 'GET'): Promise<Response> => {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await fetch(operations.url + path, { method, headers });
      await answer.body?.cancel();
      return answer;
    };

    const none = await ask();
    const refused = [
      await ask(undefined, 'HEAD'),
      await ask('Bearer x'),
      await ask(basic('bob:x')),
    ];
    const shown = [await ask('Bearer t-bob'), await ask(basic('anybody:t-bob'))];

    expect(none.status).toBe(401);
    expect(none.headers.get('www-authenticate')).toContain('Basic realm="flagkeel"');
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(shown.some(({ status }) => status === 401)).toBe(false);
  });

  it('still tells a supervisor whether it lives', async () => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await startTestOperations(daemon, { tokens: ['t'], isPrivate: true });

    const answers = ['/healthz', '/readyz'].map(async (path) => fetch(operations.url + path));

    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('/healthz', () => {
  it('is well whatever the sources are', async () => {
    await using operations = await startTestOperations(
      new DaemonInMemory(aSource({ troubles: [DOWN], firstSync: false })),
    );

    expect((await fetch(`${operations.url}/healthz`)).status).toBe(200);
  });
});

describe('/readyz', () => {
  it.each([
    ['when all is there', {}, 200, []],
    [
      'before the first run succeeded',
      { firstSync: false },
      503,
      ['no run has come to an end since the start'],
    ],
    ['as a standby', { firstSync: false, leader: false }, 200, []],
    [
      'without the service',
      { troubles: [DOWN] },
      503,
      ['service not reachable: no connection (ECONNREFUSED)'],
    ],
  ])('%s', async (_, members, status, missing) => {
    await using operations = await startTestOperations(new DaemonInMemory(aSource(members)));

    const response = await fetch(`${operations.url}/readyz`);

    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({
      ready: status === 200,
      sources: [{ name: 'shop-flags', missing }],
    });
  });
});

describe('/status', () => {
  const schema = JSON.parse(
    readFileSync(new URL('../../../../schemas/status.schema.json', import.meta.url), 'utf8'),
  ) as object;
  const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);

  it.each([
    ['in line', aSource()],
    ['after a story', aSource({ runs: [aRun(appliedReport(aStory()))] })],
    [
      'with a flag that is killed on the service and not by git',
      aSource({ runs: [aRun(aReport({ liveKills: [aLiveKill('flag/pay@production')] }))] }),
    ],
    [
      'of a broken commit, and with a flag that git kills',
      aSource({
        runs: [
          aRun(null, {
            result: 'invalid',
            diagnostics: [
              {
                ...{ severity: 'error', code: 'unknown-field', message: 'no field "trafic"' },
                ...{ file: 'flags/pay.yaml', line: 3, column: 1 },
              },
            ],
          }),
          aRun(aReport(), {
            kills: [{ id: 'flag/pay@production', reason: 'INC-1', by: null, since: null }],
          }),
        ],
      }),
    ],
    [
      'before anything',
      aSource({
        runs: [],
        seen: null,
        applied: null,
        service: null,
        workspace: null,
        environments: [],
      }),
    ],
    [
      'held and failing',
      aSource({
        runs: [aRun(null, { result: 'failed', exitCode: 6, commit: null, subject: null })],
        suspended: { reason: 'INC-1', until: null },
        pinned: { reason: 'INC-1', until: minutesAgo(-5), commit: COMMIT },
        troubles: [DOWN],
        nextRetry: minutesAgo(-1),
        phase: 'backing-off',
      }),
    ],
  ])('keeps to its schema %s', async (_, source) => {
    await using operations = await startTestOperations(new DaemonInMemory(source));

    const document: unknown = await (await fetch(`${operations.url}/status`)).json();

    expect(validate(document) ? [] : validate.errors).toEqual([]);
  });

  it('tells how things stand, and leaves reports to their own address', async () => {
    const run = aRun(appliedReport(aStory()));
    await using operations = await startTestOperations(
      new DaemonInMemory(aSource({ runs: [run] })),
    );

    const response = await fetch(`${operations.url}/status`);
    const text = await response.text();

    expect(JSON.parse(text)).toMatchObject({
      verdict: { level: 'attention' },
      sources: [
        { ready: true, environments: [{ name: null }, { drift: 1, lastChange: run.id }, {}] },
      ],
    });
    expect(text).not.toContain('defaultRule');
  });

  it('has every field described', () => {
    const bare: string[] = [];
    const visit = (at: unknown, path: string): void => {
      if (typeof at !== 'object' || at === null) return;
      for (const [name, each] of Object.entries((at as { properties?: object }).properties ?? {})) {
        const { description, $ref } = each as { description?: string; $ref?: string };
        if (description === undefined && $ref === undefined) bare.push(`${path}/${name}`);
      }
      for (const [name, each] of Object.entries(at)) visit(each, `${path}/${name}`);
    };
    visit(schema, '');

    expect(bare).toEqual([]);
  });
});

describe('the plan of a run', () => {
  it('is what the command would have printed as JSON', async () => {
    const run = aRun(appliedReport(aStory()));
    await using operations = await startTestOperations(
      new DaemonInMemory(aSource({ runs: [run] })),
    );

    const response = await fetch(`${operations.url}/runs/${run.id}/plan`);

    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(run.plan)));
  });

  it.each(['runs/none', 'runs/none/plan', 'runs/..%2fstatus', 'nothing'])(
    'is not found at %s',
    async (path) => {
      await using operations = await startTestOperations(new DaemonInMemory(aSource()));

      expect((await fetch(`${operations.url}/${path}`)).status).toBe(404);
    },
  );
});

describe('a flag that is killed on the service and not by git', () => {
  it('is named on the status page and in /status', async () => {
    const liveKills = [aLiveKill('flag/pay@production', { commit: COMMIT })];
    await using operations = await startTestOperations(
      new DaemonInMemory(aSource({ runs: [aRun(aReport({ liveKills }))] })),
    );

    const page = await (await fetch(`${operations.url}/`)).text();
    const status: unknown = await (await fetch(`${operations.url}/status`)).json();

    expect(page).toContain('Killed on the service, not ordered by git');
    expect(page).toContain(`seen since commit ${COMMIT.slice(0, 7)}`);
    expect(status).toMatchObject({
      sources: [{ liveKills: [{ id: 'flag/pay@production', seen: null, commit: COMMIT }] }],
    });
  });
});

describe('the end of the server', () => {
  it('does not wait for a page that follows it, and leaves no listener behind', async () => {
    const daemon = new DaemonInMemory(aSource());
    const operations = await startTestOperations(daemon);
    const following = await fetch(`${operations.url}/events`);

    await operations[Symbol.asyncDispose]();

    expect(await following.text()).toContain('retry:');
    expect(daemon.listeners).toBe(0);
  });

  it('is an error of its own where the port is taken, and leaves no listener behind', async () => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await startTestOperations(daemon);
    const log = createLog({ level: 'silent', format: 'json', stream: { write: () => undefined } });
    const before = daemon.listeners;

    const second = startOperations(daemon, {
      port: Number(new URL(operations.url).port),
      log,
    });

    await expect(second).rejects.toMatchObject({ code: 'IN_USE' });
    expect(daemon.listeners).toBe(before);
  });
});

describe('every answer', () => {
  it.each(['/', '/status', '/metrics', '/nothing'])(
    '%s may be neither kept, nor guessed at, nor framed by others',
    async (path) => {
      await using operations = await startTestOperations(
        new DaemonInMemory(aSource({ runs: [aRun(aReport())] })),
      );

      const { headers } = await fetch(operations.url + path);

      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    },
  );
});

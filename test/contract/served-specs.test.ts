import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serveSpecs, type SpecsOptions } from '../../src/cli/commands/service/specs.js';
import { changesOf } from '../support/applications.js';
import { makeDirectory, TestRepository } from '../support/git.js';

/** `flagkeel service --specs`: applications against the specs themselves, in a folder without git. */
let specs: TestRepository;
let end: AbortController;
let running: Promise<void>;

const CONFIG = `workspace: Default
environments: { staging: {}, production: {} }
defaults: { trafficType: user }
`;
const flag = (share: number): string => `flag: pay
treatments: { "on": { configuration: { steps: 1 } }, "off": "" }
defaultTreatment: "off"
environments:
  staging:
    rules: [{ if: { segment: beta }, serve: "on" }]
    defaultRule: { "on": ${share}, "off": rest }
  production: { defaultRule: "on" }
`;
const segment = (keys: string): string =>
  `segment: beta\nenvironments: { staging: { keys: [${keys}] } }\n`;

beforeEach(() => {
  specs = new TestRepository(makeDirectory());
  end = new AbortController();
  mkdirSync(join(specs.directory, 'kills'));
  const files = { 'flags/pay.yaml': flag(0), 'segments/beta.yaml': segment('ana') };
  specs.write({ 'flagkeel.yaml': CONFIG, ...files });
});

afterEach(stop);

/** Ends the service that runs. */
async function stop(): Promise<void> {
  end.abort();
  await running;
  end = new AbortController();
}

interface Asked {
  readonly warnings: readonly string[];
  readonly ask: <T>(path: string, body?: object) => Promise<T>;
}

async function start(
  options: Partial<SpecsOptions> = {},
  key = 'preview',
): Promise<Asked & { readonly written: string }> {
  const warnings: string[] = [];
  const log = {
    info: () => undefined,
    warn: (_: unknown, message: string) => warnings.push(message),
    error: () => undefined,
  };
  let written = '';
  const origin = new Promise<string>((resolve, reject) => {
    running = serveSpecs(
      { specs: specs.directory, environment: ['staging'], port: 0, ...options },
      { FLAGKEEL_SDK_KEY: key },
      {
        write: (text) => {
          written += text;
          const found = /listening on (\S+)\n[^]*\n$/.exec(written)?.[1];
          if (found !== undefined) resolve(found);
        },
        log,
        signal: end.signal,
      },
    );
    running.catch(reject);
  });
  const at = await origin;
  return {
    warnings,
    written,
    ask: async <T>(path: string, body?: object) => {
      const answer = await fetch(`${at}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: 'Bearer preview', 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return (await answer.json()) as T;
    },
  };
}

const valueFor = async ({ ask }: Asked, targetingKey: string): Promise<unknown> =>
  ask('/ofrep/v1/evaluate/flags/pay', { context: { targetingKey } });

const PATIENTLY = { timeout: 20_000 };

describe('the service of specs', () => {
  it('serves SDKs and OpenFeature what the files say', async () => {
    const served = await start();

    expect((await changesOf(served)).ff.d).toMatchObject([{ name: 'pay', status: 'ACTIVE' }]);
    expect(await served.ask('/sdk/segmentChanges/beta?since=-1')).toMatchObject({ added: ['ana'] });
    expect(await valueFor(served, 'ana')).toMatchObject({
      value: true,
      metadata: { configuration: '{"steps":1}' },
    });
    expect(await valueFor(served, 'bo')).toMatchObject({ value: false });
  });

  it('follows changes of flags, kills and keys, keeps what was valid, and says that a flag is gone', async () => {
    const served = await start();
    const { ff } = await changesOf(served);
    const changed = async () => (await changesOf(served, ff.t)).ff.d[0];
    specs.write({ 'segments/beta.yaml': segment('bo') });
    const toBo = expect.poll(async () => valueFor(served, 'bo'), PATIENTLY);
    await toBo.toMatchObject({ value: true });
    expect(await served.ask('/sdk/segmentChanges/beta?since=-1')).toMatchObject({ added: ['bo'] });
    specs.write({ 'flags/pay.yaml': 'flag: pay\n' });
    await expect.poll(() => served.warnings.length, PATIENTLY).toBeGreaterThan(0);
    expect(await valueFor(served, 'bo')).toMatchObject({ value: true });
    const kills = { 'kills/staging.yaml': 'kills: { pay: { reason: INC-1 } }\n' };
    specs.write({ 'flags/pay.yaml': flag(100), ...kills });
    await expect.poll(changed, PATIENTLY).toMatchObject({ killed: true });
    expect(await valueFor(served, 'bo')).toMatchObject({ value: false, reason: 'DISABLED' });

    specs.remove('flags/pay.yaml');
    await expect.poll(changed, PATIENTLY).toMatchObject({ status: 'ARCHIVED' });
  });

  it('serves a key the same after another start', async () => {
    const [first] = (await changesOf(await start())).ff.d;
    await stop();
    const [second] = (await changesOf(await start())).ff.d;

    expect(first?.seed).toBeGreaterThan(0);
    expect(second?.seed).toBe(first?.seed);
  });

  it('shows ramps as they are at the moment that is asked for', async () => {
    const ramp = `flag: pay
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging:
    defaultRule: { "on": 0, "off": rest }
    ramp: { treatment: "on", start: 2026-01-01T00:00Z, steps: [{ percent: 100, after: 10d }] }
`;
    specs.write({ 'flags/pay.yaml': ramp });
    const served = await start({ at: Date.parse('2026-01-05T00:00Z') });
    const later = { at: Date.parse('2026-02-01T00:00Z') };

    expect(await valueFor(served, 'bo')).toMatchObject({ value: false });
    await stop();
    expect(await valueFor(await start(later), 'bo')).toMatchObject({ value: true });
  });

  it('makes a key where the variable for it is empty', async () => {
    const { written, ask } = await start({}, '');

    expect(written).toMatch(/^key of applications: \w{48}$/m);
    expect(await ask('/sdk/splitChanges')).toMatchObject({ code: 401 });
  });

  it('is refused for an environment that the config does not have, and for invalid specs', async () => {
    await expect(start({ environment: ['nowhere'] })).rejects.toMatchObject({ code: 'USAGE' });
    specs.write({ 'flags/pay.yaml': 'flag: pay\n' });
    await expect(start()).rejects.toMatchObject({ code: 'SPECS_INVALID' });
    running = Promise.resolve();
  });
});

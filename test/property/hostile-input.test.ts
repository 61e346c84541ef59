import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FlagkeelError } from '../../src/errors.js';
import { parseCommit } from '../../src/git/log.js';
import { directoryTree } from '../../src/git/trees.js';
import { cleanText } from '../../src/model/audit-note.js';
import { readSpecs } from '../../src/specs/read-specs.js';
import { parseEntryFile, parseRunFile } from '../../src/state/codec.js';
import { changeAnswer } from '../support/answers.js';
import { ConfigRepository } from '../support/git.js';
import { EXAMPLE_KEY, HOSTILE, hostileTextOf } from '../support/hostile-text.js';
import { startTestService, type TestService } from '../support/service.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';
import { treeOf } from '../support/spec-tree.js';
import { cliRun } from '../support/terminal.js';
import { lawSettings } from './law-settings.js';

const settings = lawSettings('hostile input', 60);

/** No measure: what takes so long for one input has no bound. A loaded machine stays far below it. */
const BOUND_MS = 10_000;

function inTime<T>(work: () => T): T {
  const start = performance.now();
  const result = work();
  expect(performance.now() - start).toBeLessThan(BOUND_MS);
  return result;
}

const EXAMPLE = join(import.meta.dirname, '../../specs-example');
const PATHS = [
  'flagkeel.yaml',
  'flags/checkout/payment-provider.yaml',
  'segments/staff.yaml',
  'segments/beta-testers.production.keys',
  'identities/business.yaml',
  'kills/production.yaml',
  'tests/new-checkout.test.yaml',
];

it('specs of any text are read or refused, with places that are in the file, and no key is shown', async () => {
  const whole = await filesOf(EXAMPLE);
  const hostile = fc
    .constantFrom(...PATHS)
    .chain((path) => hostileTextOf([whole[path] ?? '']).map((text) => ({ path, text })));

  await fc.assert(
    fc.asyncProperty(hostile, async ({ path, text }) => {
      const start = performance.now();
      const result = await readSpecs(treeOf({ ...whole, [path]: text }));
      expect(performance.now() - start).toBeLessThan(BOUND_MS);
      if (!result.ok) expect(JSON.stringify(result.diagnostics)).not.toContain(EXAMPLE_KEY);
      for (const { location } of result.ok ? [] : result.diagnostics) {
        const lines = (location.file === path ? text : (whole[location.file] ?? '')).split('\n');
        expect(location.line).toBeLessThanOrEqual(lines.length);
      }
    }),
    settings,
  );
});

it('a commit of any text has words that are short enough to show, and no character that acts', () => {
  const commit = `tree ${'0'.repeat(40)}\nauthor Ana <ana@example.com> 1 +0000\nencoding utf-8\n\nRamp to 25 %\n\nMore words.\n\nFlag-Title: Ramp\nFlag-Comment: INC-6012\n`;

  fc.assert(
    fc.property(hostileTextOf([commit]), (text) => {
      const { subject, body } = inTime(() => parseCommit('0'.repeat(40), Buffer.from(text)));
      const shown = inTime(() => cleanText(`${subject}\n${body}`));
      expect(shown.length).toBeLessThan(128 * 1024);
      expect(shown).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}]/u);
    }),
    settings,
  );
});

it('a state of any text is read or refused', () => {
  const entry = JSON.stringify({
    formatVersion: 2,
    kind: 'flag',
    name: 'pay',
    environments: { staging: { killed: { value: false, commit: '0'.repeat(40) } } },
  });
  const run = JSON.stringify({ formatVersion: 2, head: '0'.repeat(40), workspace: 'Default' });
  const isRefusal = (work: () => unknown): void => {
    try {
      work();
    } catch (error) {
      expect(error).toBeInstanceOf(FlagkeelError);
    }
  };

  fc.assert(
    fc.property(hostileTextOf([entry]), hostileTextOf([run]), (anEntry, aRun) => {
      inTime(() => {
        isRefusal(() => parseEntryFile('objects/flag/pay.json', anEntry));
        isRefusal(() => parseRunFile(aRun));
      });
    }),
    settings,
  );
});

/** What the service answers next is spoilt by this; undefined: nothing is. */
let spoil: { readonly at: number; readonly change: (text: string) => string } | undefined;
let asked = 0;
let service: TestService;
let repository: ConfigRepository;
const kept = mkdtempSync(join(tmpdir(), 'flagkeel-hostile-'));

beforeAll(async () => {
  service = await startTestService({
    middleware: (next) => (request, response) => {
      const isSpoilt = spoil?.at === asked;
      asked += 1;
      if (isSpoilt) changeAnswer(response, spoil?.change ?? ((text) => text));
      next(request, response);
    },
  });
  repository = new ConfigRepository();
  repository.write({
    'flagkeel.yaml': STAGING_CONFIG,
    'flags/pay.yaml': flagText('pay', 25, { staging: '' }),
    'segments/staff.yaml':
      'segment: staff\ntrafficType: user\nenvironments: { staging: { keys: [ana] } }\n',
  });
  repository.commit('Write a flag and a segment');
  expect((await run('reconcile')).exitCode).toBe(0);
});

afterAll(async () => {
  await service.stop();
  repository[Symbol.dispose]();
  rmSync(kept, { recursive: true });
});

async function run(...args: readonly string[]) {
  return cliRun([...args, '--url', service.origin, repository.directory], {
    FLAGKEEL_API_KEY: service.key,
    HOME: kept,
  });
}

it('a service that answers anything ends a plan with words and a code, and nothing is written', async () => {
  const change = fc.oneof(
    fc.constantFrom(...HOSTILE).map((put) => () => put),
    hostileTextOf(['@']).map((put) => (text: string) => put.replace('@', () => text)),
    fc
      .tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(...HOSTILE))
      .map(([at, put]) => (text: string) => {
        const from = Math.floor(at * text.length);
        return text.slice(0, from) + put + text.slice(from + 1);
      }),
  );

  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 12 }), change, async (at, make) => {
      asked = 0;
      spoil = { at, change: make };
      service.requests.length = 0;
      const { exitCode, stderr, stdout } = await run('plan', '--timeout', '10s');
      spoil = undefined;

      expect([0, 2, 5, 6]).toContain(exitCode);
      expect(stderr + stdout).not.toMatch(/TypeError|RangeError|bug:|undefined/);
      expect(stderr + stdout).not.toContain(service.key);
      expect(service.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
    }),
    { ...settings, numRuns: Math.ceil(settings.numRuns / 3) },
  );
});

async function filesOf(directory: string): Promise<Record<string, string>> {
  const paths = (await directoryTree(directory)).list().map(({ path }) => path);
  return Object.fromEntries(
    paths.map((path) => [path, readFileSync(join(directory, path), 'utf8')]),
  );
}

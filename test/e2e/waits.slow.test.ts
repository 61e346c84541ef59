import { PassThrough } from 'node:stream';
import { afterEach, expect, it } from 'vitest';
import { runCli } from '../../src/cli/program.js';
import { capturedTerminal } from '../support/captured-terminal.js';
import { ConfigRepository } from '../support/config-repository.js';
import { startTestService, type Fault } from '../support/service.js';

const WATCHED_MS = 6_000;
const FIRST_WORD_MS = 1_000;
const LONGEST_SILENCE_MS = 5_000;

/** Each command that asks the service, as it is called in its repository. */
const COMMANDS = [
  'plan',
  'reconcile',
  'drift',
  'review --since HEAD',
  'kill pay --environment production --reason test',
  'restore pay --environment production --reason test',
  'explain flag/pay --online',
  'validate --online',
  'stale --online',
  'state rebuild',
  'import --workspace Default --overwrite',
];

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function aRepository(): string {
  const repository = new ConfigRepository();
  closing.push(() => {
    repository[Symbol.dispose]();
  });
  repository.write({
    'flagkeel.yaml':
      'workspace: Default\nenvironments: { production: {} }\ndefaults: { trafficType: user }\n',
    'flags/pay.yaml': `flag: pay
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments: { production: { defaultRule: "off" } }
`,
  });
  repository.commit('Add pay');
  return repository.directory;
}

/** Milliseconds from the first request to each word on standard error, while every request meets the fault. */
async function wordsWhile(fault: Fault, command: string, isTTY: boolean): Promise<number[]> {
  const service = await startTestService();
  closing.push(async () => service.stop());
  const end = new AbortController();
  const wordsAt: number[] = [];
  const stderr = Object.assign(new PassThrough(), { isTTY, columns: 200 });
  stderr.on('data', () => wordsAt.push(Date.now()));
  const askedAt = new Promise<number>((resolve) => {
    service.failAtRandom(() => {
      resolve(Date.now());
      return fault;
    });
  });
  const environment = { FLAGKEEL_API_KEY: service.key, FLAGKEEL_URL: service.origin };
  const { terminal } = capturedTerminal(environment);
  const run = runCli([...command.split(' '), aRepository()], {
    ...terminal,
    stderr: stderr as unknown as NodeJS.WriteStream,
    signal: end.signal,
  }).catch(() => undefined);
  const first = await askedAt;
  await new Promise((resolve) => setTimeout(resolve, first + WATCHED_MS - Date.now()));
  end.abort('SIGTERM');
  service.failAtRandom(() => undefined);
  service.release();
  await run;
  return wordsAt.map((at) => at - first).filter((ms) => ms <= WATCHED_MS);
}

it.each<[Fault, boolean]>([
  ['hold', false],
  [429, true],
])(
  'every command says something within a second and then every five while requests meet %s (terminal: %s)',
  async (fault, isTTY) => {
    const waits = await Promise.all(
      COMMANDS.map(async (command) => {
        const words = await wordsWhile(fault, command, isTTY);
        const moments = [...words.filter((ms) => ms >= 0), WATCHED_MS];
        const silences = moments.slice(1).map((ms, at) => ms - (moments[at] ?? 0));
        return { command, firstMs: words[0] ?? Infinity, silenceMs: Math.max(0, ...silences) };
      }),
    );

    const bad = waits.filter(
      ({ firstMs, silenceMs }) => firstMs > FIRST_WORD_MS || silenceMs > LONGEST_SILENCE_MS,
    );
    expect(bad).toEqual([]);
  },
  60_000,
);

import { once } from 'node:events';
import { createServer } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { helpDocument } from '../../src/cli/help-document.js';
import { COMMANDS } from '../../src/cli/command-table.js';
import { runCli } from '../../src/cli/program.js';
import { capturedTerminal } from '../support/captured-terminal.js';
import { ConfigRepository } from '../support/git.js';
import { listen } from '../support/loopback.js';
import { startTestService } from '../support/service.js';
import { flagText } from '../support/spec-texts.js';

type Side = 'service' | 'forge' | 'origin';

const ON_PULL_REQUEST = '--forge github --repository acme/flags --pull-request 7';

/** Each command that asks somebody, as it is called in its repository, and who does not answer. `CODE` reads no flag. */
const WAITS: readonly (readonly [Side, string])[] = [
  ['service', 'plan'],
  ['service', 'reconcile'],
  ['service', 'drift'],
  ['service', 'review --since HEAD'],
  ['service', 'kill pay --environment production --reason test'],
  ['service', 'restore pay --environment production --reason test'],
  ['service', 'explain flag/pay --online'],
  ['service', 'validate --online'],
  ['service', 'stale --online'],
  ['service', 'state rebuild'],
  ['service', 'import --workspace Default --overwrite'],
  ['forge', `review --since HEAD --offline ${ON_PULL_REQUEST} --commit ${'a'.repeat(40)}`],
  ['forge', `plan --approve-comment ${ON_PULL_REQUEST}`],
  ['forge', 'reconcile --commit-statuses --forge github --repository acme/flags'],
  ['forge', 'stale --code CODE --propose github:acme/flags'],
  ['origin', 'plan'],
  ['origin', 'reconcile'],
  ['origin', 'drift'],
  ['origin', 'review --since HEAD'],
  ['origin', 'kill pay --environment production --reason test'],
  ['origin', 'state list'],
  ['origin', 'state rebuild'],
  ['origin', 'history'],
];

/** Of the commands that ask: these run on, and have a log. */
const DAEMONS = ['watch', 'mcp'];

/** A flag of long ago that no code reads, so that its removal can be proposed. */
function aRepository(): ConfigRepository {
  const repository = new ConfigRepository();
  repository.write({
    'flagkeel.yaml': 'workspace: Default\nenvironments: { production: {} }\n',
    'flags/pay.yaml': flagText('pay', 0, { production: '' }),
    'code/shop.ts': '',
  });
  const longAgo = 'GIT_AUTHOR_DATE=2024-01-05T09:00:00Z GIT_COMMITTER_DATE=2024-01-05T09:00:00Z';
  repository.shell(`git add --all; ${longAgo} git commit --quiet --message 'Add pay'`);
  return repository;
}

/** A server that answers nothing before it is released, and then that nothing is there. */
async function heldServer() {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = createServer((_, response) => {
    void released.then(() => response.writeHead(404).end());
  });
  const asked = once(server, 'request');
  const { url, close } = await listen(server);
  return { url, asked, release, [Symbol.dispose]: () => void close() };
}

/** The words on standard error that match, as they come. */
function wordsOn(stderr: PassThrough) {
  const words: string[] = [];
  stderr.setEncoding('utf8').on('data', (text: string) => words.push(text));
  const next = async (pattern: RegExp): Promise<void> => {
    const from = words.length;
    while (!words.slice(from).some((word) => pattern.test(word))) await once(stderr, 'data');
  };
  return { words, next };
}

const SAYS: Readonly<Record<Side, (host: string) => RegExp>> = {
  service: () => /looking at the service/,
  forge: (host) => new RegExp(`asking GitHub \\(${host}\\)`),
  origin: () => /reading the specs and the state/,
};

async function saysSoWhileHeld(side: Side, command: string): Promise<void> {
  using repository = aRepository();
  using held = await heldServer();
  const service = side === 'service' ? undefined : await startTestService();
  const environment = {
    FLAGKEEL_API_KEY: service?.key ?? 'key',
    FLAGKEEL_URL: service?.origin ?? held.url,
    FLAGKEEL_FORGE_TOKEN: 'token',
  };
  const { terminal } = capturedTerminal(environment);
  const { directory } = repository;
  if (side === 'origin') {
    // So that there is something to kill.
    await runCli(['reconcile', directory], terminal);
    repository.git('remote', 'add', 'origin', `${held.url}/flags.git`);
  }
  const stderr = Object.assign(new PassThrough(), { isTTY: false });
  const { words, next } = wordsOn(stderr);
  const end = new AbortController();
  const line = command.replace('CODE', `${directory}/code`).split(' ');
  const forge = side === 'forge' ? ['--forge-url', held.url] : [];
  const run = runCli([...line, ...forge, directory], {
    ...terminal,
    stderr: stderr as unknown as NodeJS.WriteStream,
    signal: end.signal,
  }).catch((error: unknown) => error);
  const ended = run.then((how) => {
    throw new Error(`it ended with ${String(how)} and said: ${words.join('')}`);
  });
  const said = SAYS[side](new URL(held.url).host);

  await Promise.race([held.asked, ended]);
  await Promise.race([next(said), ended]);
  await Promise.race([next(said), ended]);

  end.abort('SIGTERM');
  // What was written has to be recorded, and an open status closed. All others end at the first signal.
  const isRecord =
    (side === 'origin' && command.startsWith('kill')) ||
    (side === 'forge' && /^review|-statuses/.test(command));
  if (!isRecord) await run;
  held.release();
  await Promise.allSettled([run, ended]);
  await service?.stop();
}

it.concurrent.each(WAITS)(
  'while the %s does not answer, %s says whom it waits for, and again, until a signal ends it',
  saysSoWhileHeld,
  240_000,
);

it('knows each command that can ask', async () => {
  const asking = await Promise.all(
    Object.keys(COMMANDS).map(async (name) => {
      const subcommand = name === 'state' ? ['list'] : [];
      const document = await helpDocument(COMMANDS, [name, ...subcommand]);
      const options = document?.options.map((option) => option.name) ?? [];
      return options.includes('--url') || options.includes('--forge-url') ? [name] : [];
    }),
  );

  const known = Object.keys(COMMANDS).filter((name) => COMMANDS[name]?.asks);
  expect([...known, ...DAEMONS].toSorted()).toEqual(asking.flat().toSorted());
  expect([...new Set(WAITS.map(([, command]) => command.split(' ', 1)[0]))].toSorted()).toEqual(
    known.toSorted(),
  );
});

import { writeFileSync } from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigRepository } from '../test/support/config-repository.js';
import { HttpGitServer } from '../test/support/git-server.js';
import { liveWorkspace } from '../test/support/live-workspace.js';
import { startTestService } from '../test/support/service.js';
import { Watching } from '../test/support/watching.js';

/**
 * How long it takes from a push to the git server until the service has it: twenty pushes to a daemon that fetches by
 * the clock, and twenty to one that is told by a signal, as a webhook would. Prints a table.
 */
const PUSHES = 20;
const FLAGS = 20;
const INTERVAL_MS = 5_000;
const JITTER_MS = 500;

function flag(name: string, percent: number): string {
  return `flag: ${name}
trafficType: user
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging: { defaultRule: { "on": ${percent}, "off": rest } }
`;
}

async function measured(isTold: boolean): Promise<number[]> {
  using repository = new ConfigRepository();
  const folder = mkdtempSync(join(tmpdir(), 'flaghoist-pushes-'));
  const service = await startTestService();
  const live = await liveWorkspace(service);
  const server = await HttpGitServer.start();
  writeFileSync(join(folder, 'token'), server.token);
  const push = (message: string): string => {
    const commit = repository.commit(message);
    repository.git('push', '--quiet', server.repository, 'HEAD:refs/heads/main');
    return commit;
  };
  const percent = async (): Promise<number | undefined> => {
    const path = `/splits/ws/${live.id}/flag-0/environments/${live.staging}`;
    const { body } = await live.call('GET', path);
    return (body as { defaultRule?: { size: number }[] }).defaultRule?.[0]?.size;
  };
  repository.write({ 'flaghoist.yaml': 'workspace: Default\nenvironments:\n  staging: {}\n' });
  for (let i = 0; i < FLAGS; i += 1)
    repository.write({ [`flags/flag-${i}.yaml`]: flag(`flag-${i}`, 1) });
  const first = push('Add flags');
  const daemon = new Watching(
    [
      ...['--repo', server.url, '--branch', 'main', '--url', service.origin],
      ...['--interval', isTold ? '1h' : `${INTERVAL_MS}ms`, '--jitter', `${JITTER_MS}ms`],
    ],
    {
      FLAGHOIST_API_KEY: service.key,
      FLAGHOIST_GIT_TOKEN_FILE: join(folder, 'token'),
      FLAGHOIST_STATE_DIR: join(folder, 'state.git'),
    },
    folder,
  );
  const durations: number[] = [];
  try {
    await daemon.ran(first, 'applied');
    for (let i = 0; i < PUSHES; i += 1) {
      repository.write({ 'flags/flag-0.yaml': flag('flag-0', 2 + i) });
      const commit = push(`Push ${i}`);
      const pushedAt = performance.now();
      if (isTold) daemon.signal('SIGHUP');
      while ((await percent()) !== 2 + i) await new Promise((resolve) => setTimeout(resolve, 20));
      durations.push(performance.now() - pushedAt);
      await daemon.line(({ msg, revision }) => msg === 'run ended' && revision === commit);
    }
  } finally {
    await daemon.stop('SIGKILL');
    await server.stop();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return durations.toSorted((a, b) => a - b);
}

function row(name: string, sorted: readonly number[]): string {
  const at = (part: number): string =>
    `${Math.round(sorted[Math.ceil(sorted.length * part) - 1] ?? 0)} ms`.padStart(9);
  return `${name.padEnd(34)} ${at(0.5)} ${at(0.95)} ${at(1)}`;
}

const lines = [
  `${'push → on the service'.padEnd(34)} ${'median'.padStart(9)} ${'p95'.padStart(9)} ${'most'.padStart(9)}`,
  row('told at once', await measured(true)),
  row(`every ${INTERVAL_MS} ms + up to ${JITTER_MS} ms`, await measured(false)),
];
process.stdout.write(`${lines.join('\n')}\n`);

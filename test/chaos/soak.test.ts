import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigRepository } from '../support/git.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { startTestService, type TestService } from '../support/service.js';
import { flagText } from '../support/spec-texts.js';
import { Watching } from '../support/watching.js';

/** A few show that the test itself is right. */
const CYCLES = Number(process.env['FLAGKEEL_SOAK_CYCLES'] ?? 2_000);
/** Of fewer cycles, memory says more about the start than about what is kept. */
const ENOUGH_FOR_MEMORY = 400;
const FLAGS = 20;
const MS_PER_CYCLE = 20_000;

const flag = (name: string, percent: number): string => flagText(name, percent, { staging: '' });

interface Sample {
  readonly kib: number;
  readonly descriptors: number;
}

/** What the kernel says of a process; Linux alone. */
function sampleOf(pid: number): Sample {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    kib: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** The part of the samples that the quarter holds, 1 to 4. */
function quarter(samples: readonly Sample[], number: number): readonly Sample[] {
  const size = Math.floor(samples.length / 4);
  return samples.slice((number - 1) * size, number * size);
}

describe.skipIf(process.platform !== 'linux')('a daemon over many cycles', () => {
  let repository: ConfigRepository;
  let service: TestService;
  let live: LiveWorkspace;
  let daemon: Watching;

  beforeAll(async () => {
    repository = new ConfigRepository();
    service = await startTestService();
    live = await liveWorkspace(service);
    repository.write({ 'flagkeel.yaml': 'workspace: Default\nenvironments:\n  staging: {}\n' });
    for (let i = 0; i < FLAGS; i += 1)
      repository.write({ [`flags/flag-${i}.yaml`]: flag(`flag-${i}`, 1) });
    const first = repository.commit('Add flags');
    daemon = new Watching(
      ['--debounce', '10ms', '--interval', '1s', '--url', service.origin, repository.directory],
      { FLAGKEEL_API_KEY: service.key },
    );
    await daemon.ran(first, 'applied');
  });

  afterAll(async () => {
    await daemon.stop('SIGKILL');
    await service.stop();
    repository[Symbol.dispose]();
  });

  it(
    'keeps neither memory nor descriptors, and is right after each',
    { timeout: CYCLES * MS_PER_CYCLE },
    async () => {
      const samples: Sample[] = [];
      for (let cycle = 0; cycle < CYCLES; cycle += 1) {
        const name = `flag-${cycle % FLAGS}`;
        const wanted = 2 + (cycle % 97);
        const file = { [`flags/${name}.yaml`]: flag(name, wanted) };
        const commit = repository.commit(`Cycle ${cycle}`, file);
        await daemon.line(({ msg, revision }) => msg === 'run ended' && revision === commit);
        expect(await live.share(name, 'staging')).toBe(wanted);
        samples.push(sampleOf(daemon.pid));
        daemon.lines.length = 0;
        service.requests.length = 0;
      }
      const kib = [1, 2, 3, 4].map((n) => median(quarter(samples, n).map((each) => each.kib)));
      const descriptors = [2, 4].map((n) =>
        Math.max(...quarter(samples, n).map((each) => each.descriptors)),
      );
      const [, second = 0, , last = 0] = kib;
      process.stderr.write(
        `soak: ${CYCLES} cycles; median memory by quarter ${kib.join(', ')} KiB (last/second ${(last / second).toFixed(3)}); most descriptors ${descriptors.join(', ')}\n`,
      );
      // A run that is under way when it is sampled has a few of its own.
      expect(descriptors[1]).toBeLessThanOrEqual((descriptors[0] ?? 0) + 10);
      if (CYCLES >= ENOUGH_FOR_MEMORY) expect(last / second).toBeLessThanOrEqual(1.1);
    },
  );
});

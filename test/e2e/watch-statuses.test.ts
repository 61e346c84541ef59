import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigRepository } from '../support/config-repository.js';
import { startTestForge, type TestForge } from '../support/forge.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { startTestService, type TestService } from '../support/service.js';
import { Watching } from '../support/watching.js';

const CONFIG = 'workspace: Default\nenvironments:\n  staging: {}\n';

function flag(percent: number | string): string {
  return `flag: pay
trafficType: user
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging: { defaultRule: { "on": ${String(percent)}, "off": rest } }
`;
}

describe.each(['github', 'gitlab'] as const)('a watching daemon with statuses on %s', (kind) => {
  let repository: ConfigRepository;
  let service: TestService;
  let forge: TestForge;
  let daemon: Watching;
  let first: string;

  beforeEach(async () => {
    repository = new ConfigRepository();
    service = await startTestService();
    forge = await startTestForge(kind);
    await liveWorkspace(service);
    repository.write({ 'flaghoist.yaml': CONFIG, 'flags/pay.yaml': flag(10) });
    first = repository.commit('Add pay');
    const args = [
      ...['--interval', '200ms', '--debounce', '10ms', '--schedule', 'off'],
      ...['--statuses', `${kind}:acme/flags`, '--forge-url', forge.url],
      ...['--url', service.origin, repository.directory],
    ];
    const secrets = { FLAGHOIST_API_KEY: service.key, FLAGHOIST_FORGE_TOKEN: forge.token };
    daemon = new Watching(args, secrets);
    await daemon.ran(first, 'applied');
  });

  afterEach(async () => {
    await daemon.stop('SIGKILL');
    await service.stop();
    await forge.close();
    repository[Symbol.dispose]();
  });

  /** Context → its states, in their order. */
  function told(commit: string): Record<string, string[]> {
    const found: Record<string, string[]> = {};
    for (const { sha, context, state } of forge.statuses) {
      if (sha === commit) (found[context] ??= []).push(state);
    }
    return found;
  }

  it('closes the statuses of each commit by what came of it', async () => {
    repository.write({ 'flags/pay.yaml': flag(20) });
    const second = repository.commit('Ramp pay');
    await daemon.ran(second, 'applied');
    repository.write({ 'flaghoist.yaml': 'workspace: [\n' });
    const third = repository.commit('Break the config');
    await daemon.ran(third, 'invalid');
    expect(await daemon.stop()).toBe(143);

    const states = (commit: string) =>
      Object.entries(told(commit)).map(([context, all]) => [context, all.at(-1)]);
    const failure = kind === 'github' ? 'failure' : 'failed';
    const contexts = ['flaghoist-watch', 'flaghoist-watch/staging'];
    expect(states(first)).toEqual(contexts.map((context) => [context, 'success']));
    expect(states(second)).toEqual(contexts.map((context) => [context, 'success']));
    expect(states(third)).toEqual(contexts.map((context) => [context, failure]));
  });

  it('leaves nothing open when it is stopped in the middle of a run', async () => {
    repository.write({ 'flags/pay.yaml': flag(20) });
    const second = repository.commit('Ramp pay');
    await daemon.until(() => told(second)['flaghoist-watch'] !== undefined, 'a status');

    expect(await daemon.stop()).toBe(143);

    const last = Object.values(told(second)).map((states) => states.at(-1));
    expect(last).not.toEqual([]);
    for (const state of last) expect(state).not.toMatch(/pending|running/);
    expect(JSON.stringify(daemon.lines)).not.toContain(forge.token);
  });
});

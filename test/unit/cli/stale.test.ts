import { beforeEach, expect, it } from 'vitest';
import { useCommands } from '../../support/terminal.js';

const DAY_MS = 86_400_000;
const CONFIG = 'workspace: Shop\nenvironments: { production: {}, staging: {} }\n';

function dayBefore(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
}

function flag(name: string, defaultRule: string, fields = ''): string {
  return `flag: ${name}\n${fields}trafficType: user\ntreatments: { "on": "", "off": "" }\ndefaultTreatment: "off"\nenvironments: { production: { defaultRule: ${defaultRule} } }\n`;
}

const world = useCommands();
const { run, write } = world;

/** Four flags of different ages, the youngest commit of a day ago. */
beforeEach(() => {
  const commit = (days: number, files: Readonly<Record<string, string>>): void => {
    write(files);
    const date = `${dayBefore(days)}T12:00:00Z`;
    world.repository.shell(
      `git add --all; GIT_COMMITTER_DATE=${date} GIT_AUTHOR_DATE=${date} git commit -qm change`,
    );
  };
  commit(300, {
    'flagkeel.yaml': CONFIG,
    'flags/old.yaml': flag('old', '"on"', 'owner: team-pay\n'),
    'flags/half.yaml': flag('half', '{ "on": 50, "off": 50 }'),
    'flags/touched.yaml': flag('touched', '"off"'),
  });
  commit(200, { 'flags/old.yaml': flag('old', '"on"', 'owner: team-pay # the new name\n') });
  commit(1, {
    'flags/gone.yaml': flag('gone', '"on"', `expires: ${dayBefore(30)}\n`),
    'flags/touched@staging.yaml': 'flag: touched\nenvironment: staging\ndefaultRule: "off"\n',
  });
});

it('stale lists what serves everybody the same for long, and what is past its day', async () => {
  const listed = await run('stale');

  expect(listed.stdout).toBe(
    `flag/old [flags/old.yaml]
  settled · owner team-pay · everybody gets on · changed ${dayBefore(200)}, 200 days ago · since ${dayBefore(300)}
flag/gone [flags/gone.yaml]
  expired · no owner · expires ${dayBefore(30)} · everybody gets on · changed ${dayBefore(1)}, 1 day ago · since ${dayBefore(1)}
2 flags of 4 stale (everybody gets the same for 90 days, or past \`expires\`)
`,
  );
  expect(listed.exitCode).toBe(2);
});

it('stale takes the days of the command line, then those of the config, and without history expiry alone', async () => {
  const names = async (...args: readonly string[]): Promise<[number, ...string[]]> => {
    const { exitCode, stdout } = await run('stale', ...args, '--format', 'json');
    const { flags } = JSON.parse(stdout) as { flags: { name: string; why: string[] }[] };
    return [exitCode, ...flags.map(({ name, why }) => [name, ...why].join(' '))];
  };

  expect(await names('--days', '201')).toEqual([2, 'gone expired']);
  expect(await names('--all')).toEqual([2, 'half', 'old settled', 'gone expired', 'touched']);
  write({ 'flagkeel.yaml': `${CONFIG}lint: { staleAfter: 300 }\n` });
  expect(await names()).toEqual([2, 'gone expired']);
  world.repository.remove('.git');
  const alone = await run('stale');
  expect(alone.stderr).toContain('there is no git history here');
  expect(alone.stdout).toContain('1 flag of 4 stale');
  world.repository.remove('flags/gone.yaml');
  expect(await names()).toEqual([0]);
});

it.each(['stale', 'validate', 'report'])(
  '%s says in a shallow clone that flags may be older, instead of that none is stale',
  async (command) => {
    write({ 'flagkeel.yaml': `${CONFIG}lint: { staleAfter: 90 }\n` });
    world.repository.commit('Look for stale flags');
    const warning = 'warning: the clone is shallow';
    expect((await run(command)).stderr).not.toContain(warning);
    const root = world.repository.git('rev-parse', 'HEAD');

    // Git takes a repository with this file for a clone of depth 1.
    world.repository.write({ '.git/shallow': `${root}\n` });

    expect((await run(command)).stderr).toContain(warning);
  },
);

it('validate finds a rollout that is over by the commits of the repository, and report tells ages', async () => {
  write({ 'flagkeel.yaml': `${CONFIG}lint: { staleAfter: 90 }\n` });

  const { stdout } = await run('validate');
  expect(stdout).toContain(
    'warning[stale-rollout] everybody gets "on" everywhere, and has for 200 days at least',
  );
  const report = await run('report');
  expect(report.stdout).toContain(`since ${dayBefore(300)} · changed ${dayBefore(200)}`);
});

it('stale does not say what everybody gets of a flag that the list of kills stops, or whose shares people own', async () => {
  write({ 'kills/production.yaml': 'kills: { old: { reason: INC-1 } }\n' });
  const owned = flag('touched', '"off"').replace(
    '"off" } }',
    '"off", unmanaged: [defaultRule] } }',
  );
  write({ 'flags/touched.yaml': owned, 'flags/gone.yaml': null });

  expect((await run('stale', '--all')).stdout).not.toContain('everybody gets on');
  expect((await run('stale', '--days', '1', '--all')).stdout).not.toContain('everybody gets off');
});

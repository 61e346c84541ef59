import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { cliRun, useCommands } from '../../support/terminal.js';

const SAMPLES = join(import.meta.dirname, '../../fixtures/import');

const world = useCommands();
const { run, write, at, text } = world;

beforeEach(() => {
  world.repository.remove('.git');
});

const TOOLS = [
  { tool: 'harness-ff', sample: 'flags.yaml', options: [] },
  {
    tool: 'split-yaml',
    sample: 'split.yaml',
    options: ['--environment', 'staging', '--environment', 'production'],
  },
  { tool: 'terraform-state', sample: 'terraform.tfstate', options: [] },
] as const;

/** What the command printed, with short paths, and every file that it wrote. */
function printed(stdout: string): string {
  const paths = readdirSync(at(''), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(at('').length + 1))
    .filter((path) => !path.startsWith('schemas/'))
    .sort();
  const files = paths.map((path) => `==> ${path} <==\n${text(path)}`);
  const short = stdout
    .replaceAll(at(''), 'config')
    .replaceAll(/\S*\/fixtures\/import\/[^/]+\//g, '');
  return [short, ...files].join('\n');
}

it.each(TOOLS)(
  'a file of $tool is said in specs that can be applied, and what they do not say with its place',
  async ({ tool, sample, options }) => {
    const folder = join(SAMPLES, tool);
    const done = await run('import', ...options, '--from', tool, join(folder, sample));

    expect(done, done.stderr).toMatchObject({ exitCode: 0, stderr: '' });
    expect(printed(done.stdout)).toBe(readFileSync(join(folder, 'expected.txt'), 'utf8'));
    expect(await run('validate')).toMatchObject({ exitCode: 0 });
    const applied = await run('reconcile', '--embedded');
    expect(applied.stdout + applied.stderr).toMatch(/In sync: \d+ objects equal\.$/m);
    expect(await run('plan', '--embedded', '--detailed-exitcode')).toMatchObject({ exitCode: 0 });
  },
);

it('a file that is far too large is refused, also where it has no end', async () => {
  const large = at('large');
  write({ large: '' });
  truncateSync(large, 65 * 1024 * 1024);

  for (const path of [large, '/dev/zero']) {
    const refused = await run('import', '--from', 'split-yaml', path);

    expect(refused.exitCode).toBe(64);
    expect(refused.stderr).toContain(`cannot import from "${path}": it has more than 64 MiB`);
  }
});

const SERVES = { default: { onVariation: 'a', offVariation: 'b' } };
const FLAG = {
  identifier: 'pay',
  name: 'pay',
  spec: { variations: [{ identifier: 'a' }, { identifier: 'b' }], ...SERVES },
};

/** A state of Terraform with definitions of one flag, each of which serves its own treatment. */
function stateOf(...all: readonly (readonly string[])[]): string {
  const resources = all.map(([name, deposed]) => ({
    ...{ type: 'split_split_definition', name, mode: 'managed' },
    instances: [
      {
        ...(deposed && { deposed }),
        attributes: {
          ...{ split_name: 'pay', environment_id: 'e', workspace_id: '' },
          treatment: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
          default_treatment: name,
          default_rule: [{ treatment: name, size: 100 }],
        },
      },
    ],
  }));
  return JSON.stringify({ version: 4, resources });
}

const TWO_TREATMENTS = {
  treatments: [{ name: 'on' }, { name: 'off' }],
  defaultTreatment: 'off',
  defaultRule: [{ treatment: 'off', size: 100 }],
};

describe('import --from', () => {
  const state = join(SAMPLES, 'terraform-state/terraform.tfstate');

  async function ofState(path: string, into: string, ...options: readonly string[]) {
    return cliRun(['import', '--from', 'terraform-state', path, into, ...options]);
  }

  it('reads what terraform show prints like the state itself', async () => {
    const { resources } = JSON.parse(readFileSync(state, 'utf8')) as {
      resources: (Record<string, string> & {
        instances: { index_key?: unknown; attributes: unknown }[];
      })[];
    };
    const shown = resources.flatMap(({ instances, mode, type, name, module }) =>
      instances.map(({ index_key: index, attributes }) => ({
        address:
          [module, mode === 'data' ? 'data' : undefined, type, name].filter(Boolean).join('.') +
          (index === undefined ? '' : `[${JSON.stringify(index)}]`),
        ...{ mode, type, name },
        values: attributes,
      })),
    );
    const [own, nested] = [shown.slice(0, 6), shown.slice(6)];
    const root = { resources: own, child_modules: [{ resources: nested }] };
    write({
      'show.json': JSON.stringify({ format_version: '1.0', values: { root_module: root } }),
    });

    const fromState = await ofState(state, at('a'));
    const fromShow = await ofState(at('show.json'), at('b'));

    const bare = ({ stdout }: { stdout: string }) =>
      stdout.split('\n').filter((line) => !/^Imported|^ {2}flagkeel/.test(line));
    expect(fromShow.exitCode).toBe(0);
    expect(bare(fromShow)).toEqual(bare(fromState));
  });

  it('makes a rule of each matcher where the JSON of a definition says that any of them suffices', async () => {
    const matchers = ['ana', 'ben'].map((key) => ({ type: 'IN_LIST_STRING', strings: [key] }));
    const condition = { combiner: 'OR', matchers };
    const rules = [{ buckets: [{ treatment: 'on', size: 100 }], condition }];
    const definition = { ...TWO_TREATMENTS, rules };
    const values = {
      flag_name: 'search',
      environment_id: 'production',
      definition: JSON.stringify(definition),
    };
    const resource = {
      ...{ type: 'harness_fme_feature_flag_definition', name: 'search', mode: 'managed' },
      instances: [{ attributes: values }],
    };
    write({ 'state.json': JSON.stringify({ resources: [resource] }) });

    const done = await ofState(at('state.json'), at('specs'));

    expect(done, done.stderr).toMatchObject({ exitCode: 0 });
    const spec = text('specs/flags/search.yaml');
    expect(spec.match(/- if:/g)).toHaveLength(2);
  });

  it('takes the environments, objects and names that are asked for', async () => {
    const options = ['--environment', 'production', '--only', 'flag/search', '--workspace', 'Shop'];
    const form = ['--traffic-type', 'visitor', '--format', 'json'];
    const run = await ofState(state, at(''), ...options, ...form);

    expect(JSON.parse(run.stdout)).toMatchObject({
      workspace: 'Shop',
      environments: ['production'],
      files: ['flagkeel.yaml', 'flags/search.yaml'],
    });
    expect(text('flags/search.yaml')).toContain('trafficType: visitor\n');
  });

  it.each([
    ['harness-ff', 'flags: []\n', 3, 'it has no list featureFlags.flags'],
    ['harness-ff', 'a: [1\n', 3, 'line 2: not YAML'],
    ['harness-ff', 'a: &x 1\nb: *x\n', 3, 'line 2: aliases are not read'],
    ['harness-ff', 'a: 1\na: 2\n', 3, 'line 2: "a" stands twice in one mapping'],
    ['split-yaml', 'a: 1\n', 3, 'it is no list of flags'],
    [
      'split-yaml',
      '- a: { treatment: "on" }\n',
      64,
      'it names no environment (say by --environment',
    ],
    ['harness-ff', 'featureFlags: { flags: [] }\n', 64, 'it names no environment\n'],
    ['terraform-state', '{"version": 4}', 3, 'it is neither a state of Terraform nor'],
    ['terraform-state', 'resource "x" {}', 3, 'it is neither a state of Terraform nor'],
  ])('refuses %s with %j', async (tool, text, exitCode, why) => {
    write({ file: text });

    const refused = await cliRun(['import', '--from', tool, at('file'), at('config')]);

    expect(refused.stderr).toContain(`cannot import from "${at('file')}": ${why}`);
    expect(refused.exitCode).toBe(exitCode);
    expect(readdirSync(at(''))).toEqual(['file']);
  });

  it('refuses what is no UTF-8, and an object that the file does not have', async () => {
    writeFileSync(at('file'), Buffer.from('\uFEFF{"version":4}', 'utf16le'));

    const other = await ofState(at('file'), at('config'));
    const absent = await ofState(state, at('config'), '--only', 'flag/serch');

    expect(other.stderr).toContain(`cannot import from "${at('file')}": it is no text in UTF-8`);
    expect(other.exitCode).toBe(3);
    expect(absent.stderr).toContain('it has no flag/serch');
    expect(absent.exitCode).toBe(64);
    expect(readdirSync(at(''))).toEqual(['file']);
  });

  it('takes the first of what a file has twice and says so, and no resource that waits for its deletion', async () => {
    const environment = (state: string) => ({ identifier: 'p', state, ...SERVES });
    const flag = (state: string) => ({
      flag: { ...FLAG, environments: [environment(state), environment('off')] },
    });
    write({
      'flags.yaml': JSON.stringify({ featureFlags: { flags: [flag('on'), flag('off')] } }),
      'state.json': `\uFEFF${stateOf(['c', 'deposed'], ['a'], ['b'])}`,
    });

    const harness = await cliRun(['import', '--from', 'harness-ff', at('flags.yaml'), at('a')]);
    const terraform = await ofState(at('state.json'), at('b'));

    expect(harness.stdout).toContain('flags.yaml:1: flag "pay" stands above already; left out');
    expect(harness.stdout).toContain('flags.yaml:1: "p" stands above already; left out');
    expect(text('a/flags/pay.yaml')).not.toContain('killed');
    expect(terraform.stdout).toContain('.b: another resource defines this already; left out');
    expect(text('b/flags/pay.yaml')).toContain('defaultTreatment: a\n');
  });

  it('takes any one workspace of a state with several of two providers, and of equal names by their ids', async () => {
    const resource = (type: string, name: string, attributes: object) => ({
      ...{ type, name, mode: 'managed', instances: [{ attributes: { name, ...attributes } }] },
    });
    const inSplit = ['one', 'two'].flatMap((id) => [
      resource('split_workspace', 'Shop', { id }),
      resource('split_environment', `env-${id}`, {
        ...{ id: `e-${id}`, workspace_id: id, production: id === 'one' },
      }),
      resource('split_split', `of-${id}`, { workspace_id: id }),
    ]);
    const inHarness = ['p', 'q', 'r'].flatMap((project, position) => {
      const place = { org_id: position < 2 ? 'a' : 'b', project_id: project.replace('r', 'p') };
      const names = { flag_name: `of-${project}`, environment_id: 'e-one' };
      const definition = JSON.stringify(TWO_TREATMENTS);
      return [
        resource('harness_fme_feature_flag', `of-${project}`, place),
        resource('harness_fme_feature_flag_definition', 'd', { ...place, ...names, definition }),
      ];
    });
    write({ 'state.json': JSON.stringify({ version: 4, resources: [...inSplit, ...inHarness] }) });

    const taken = ['one', 'two', 'a/p', 'q', 'b/p'];
    for (const [position, workspace] of taken.entries()) {
      const done = await ofState(at('state.json'), at(`${position}`), '--workspace', workspace);
      expect(done, done.stderr).toMatchObject({ exitCode: 0 });
    }
    const flags = taken.map((_, position) => readdirSync(at(`${position}/flags`)));
    expect(flags.flat()).toEqual(['one', 'two', 'p', 'q', 'r'].map((name) => `of-${name}.yaml`));
    expect(text('3/flags/of-q.yaml')).toContain('env-one:');
    expect(text('3/flagkeel.yaml')).toContain('env-one: { protected: true }');
    const names = taken.map((_, position) =>
      /workspace: (.*)/.exec(text(`${position}/flagkeel.yaml`)),
    );
    expect(names.map((found) => found?.[1])).toEqual(['one', 'two', 'p', 'q', 'p']);
    for (const unclear of [[], ['--workspace', 'Shop'], ['--workspace', 'p']]) {
      const refused = await ofState(at('state.json'), at('x'), ...unclear);
      expect(refused.stderr).toContain(
        'it has the workspaces p (a/p), q (a/q), p (b/p), Shop (one), Shop (two) (name one with --workspace)',
      );
      expect(refused.exitCode).toBe(64);
    }
  });

  it('leaves out a rule that would be thousands of rules', async () => {
    const values = Array.from({ length: 20 }, (_, position) => `g${position}`);
    const clauses = Array.from({ length: 9 }, () => ({ op: 'segmentMatch', values }));
    const rules = [{ priority: 1, serve: { variation: 'a' }, clauses }];
    const environments = [{ identifier: 'p', state: 'on', ...SERVES, rules }];
    write({
      'flags.yaml': JSON.stringify({ featureFlags: { flags: [{ ...FLAG, environments }] } }),
    });

    const done = await cliRun(['import', '--from', 'harness-ff', at('flags.yaml'), at('a')]);

    expect(done.stdout).toContain(`it would be ${20 ** 9} rules here`);
    expect(text('a/flags/pay.yaml')).not.toContain('rules:');
  });

  it('refuses sizes beyond 100, an unknown environment, and a service beside a file', async () => {
    const rule = { bucket: [{ treatment: 'on', size: 120 }], condition: [] };
    const attributes = {
      ...{ split_name: 'pay', environment_id: 'e', default_treatment: 'on' },
      treatment: [{ name: 'on' }, { name: 'off' }],
      default_rule: [{ treatment: 'on', size: 100 }],
      rule: [rule],
    };
    const resource = { type: 'split_split_definition', name: 'x', instances: [{ attributes }] };
    write({ file: JSON.stringify({ version: 4, resources: [resource] }) });
    const run = async (...options: string[]) => ofState(at('file'), at('config'), ...options);

    const beyond = await run();
    expect(beyond.stderr).toContain('cannot say in files what the file holds; nothing was written');
    expect(beyond.stderr).toContain('flags/pay.yaml: "on" must be 100 or less');
    expect(beyond.exitCode).toBe(3);
    const strange = await run('--environment', 'f', '--environment', 'g');
    expect(strange.stderr).toContain(
      `cannot import from "${at('file')}": it has no environment "f", "g", but "e"`,
    );
    expect(strange.exitCode).toBe(64);
    expect(await run('--embedded')).toMatchObject({ exitCode: 64 });
    expect(await run('--exclude', 'flag/pya')).toMatchObject({ exitCode: 64 });
    expect(readdirSync(at(''))).toEqual(['file']);
    expect(await run('--exclude', 'flag/pay')).toMatchObject({ exitCode: 0 });
    expect(readdirSync(at('config'))).toEqual(['flagkeel.yaml', 'schemas']);
  });
});

import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Option } from 'commander';
import { FlagkeelError } from '../../errors.js';
import { nearestWith } from '../../git/checkout.js';
import { packageFile, packageVersion } from '../../platform/package-files.js';
import { clean, quoted } from '../../report/sanitize.js';
import { EMPTY_BLOCK } from '../../specs/edit/code-owners.js';
import { withSchemaLines } from '../../specs/parse/schemas.js';
import {
  mapping,
  yamlText,
  type Member,
  type Written as YamlValue,
} from '../../specs/edit/yaml-text.js';
import { collect, commonOptions, namedDirectory, type CommonOptions } from '../options.js';
import type { DeclareCommand } from '../command.js';
import { schemaFiles, writeNew } from './schema.js';
import { ending, type Screen } from '../terminal.js';

type ForgeName = 'github' | 'gitlab';

interface InitOptions extends CommonOptions {
  readonly workspace: string;
  readonly environment: readonly string[];
  readonly trafficType: string;
  readonly example?: boolean;
  readonly forge: ForgeName;
  /** False where the command line has `--no-workflows`; commander makes it true otherwise. */
  readonly workflows: boolean;
}

interface Written {
  readonly path: string;
  readonly written: boolean;
}

export const declareInit: DeclareCommand = (command, invocation) => {
  const environment =
    'an environment, the most protected last (repeatable; default: staging, production)';
  const example = new Option(
    '--example',
    'the flags of a small shop instead, to try everything on',
  );
  const forge = new Option('--forge <name>', 'whose workflows are written');
  const noWorkflows = 'without the workflows for review, apply, approvals, kills and drift';
  command
    .argument('[directory]', 'where the config repository is to be', namedDirectory, '.')
    .option('--workspace <name>', 'name or id of the workspace', 'Default')
    .option('--environment <name>', environment, collect, [])
    .option('--traffic-type <name>', 'the kind of key of flags', 'user')
    .addOption(example.conflicts(['workspace', 'environment', 'trafficType']))
    .addOption(forge.choices(['github', 'gitlab']).default('github'))
    .option('--no-workflows', noWorkflows);
  commonOptions(command).action(ending(init, invocation));
};

/** Files that are there stay as they are, so it may be repeated. */
async function init(directory: string, options: InitOptions, screen: Screen): Promise<void> {
  const environments =
    options.environment.length === 0 ? ['staging', 'production'] : options.environment;
  const unfit = environments.find((name) => name === '' || /[/\\]|^\./.test(name));
  if (unfit !== undefined) {
    const why = 'a file is named like it, so it is neither empty nor a path';
    throw new FlagkeelError('USAGE', `cannot use environment ${quoted(unfit)}: ${why}`);
  }
  const results: Written[] = [];
  const top = await nearestWith('.git', directory);
  const isAtTop = top === null || top === resolve(directory);
  const workflows = options.workflows && isAtTop ? await workflowFiles(options.forge) : [];
  if (options.workflows && !isAtTop) {
    const why = 'a forge reads them at the top of a repository alone, and calls of "." there';
    screen.note(`no workflows are written: ${why} would not find this directory`);
  }
  const specs =
    options.example === true ? await exampleFiles() : starterFiles({ ...options, environments });
  for (const [path, text] of [...specs, ...schemaFiles(), ...workflows]) {
    results.push({ path, written: await writeNew(join(directory, path), text) });
  }
  const needs = workflows.length > 0 ? WORKFLOW_NEEDS[options.forge] : '';
  await screen.print(
    { directory, files: results },
    () => asText(directory, options, results) + needs,
  );
}

const WORKFLOWS: Readonly<
  Record<ForgeName, { from: string; to: string; bots: Readonly<Record<string, string>> }>
> = {
  github: {
    from: 'workflows/',
    to: '.github/workflows/',
    bots: { 'dependabot.yml': '.github/dependabot.yml', 'renovate.json': 'renovate.json' },
  },
  gitlab: {
    from: 'templates/',
    to: '.gitlab/flagkeel/',
    bots: { 'renovate.json': 'renovate.json' },
  },
};

/** `bots/renovate.json` finds the version of flagkeel by the same words. */
const VERSION = /(flagkeel@|Of flagkeel\.\s+default: )\d+\.\d+\.\d+/g;

/** Path → text. Workflows keep their names, by which they refer to each other. */
async function workflowFiles(forge: ForgeName): Promise<[path: string, text: string][]> {
  const { from, to, bots } = WORKFLOWS[forge];
  const folder = packageFile(from);
  const names = (await readdir(folder)).sort();
  const copies: [path: string, text: string][] = [];
  for (const name of names) {
    const text = await readFile(new URL(name, folder), 'utf8');
    copies.push([`${to}${name}`, text.replaceAll(VERSION, `$1${packageVersion()}`)]);
  }
  for (const [name, path] of Object.entries(bots)) {
    copies.push([path, await readFile(packageFile(`bots/${name}`), 'utf8')]);
  }
  if (forge === 'github') return copies;
  const includes = names.map((name) => `  - local: ${to}${name}\n`).join('');
  return [...copies, ['.gitlab-ci.yml', `stages: [test, deploy]\ninclude:\n${includes}`]];
}

/** Path → text. Schemas lie within, not beside as in this package. */
async function exampleFiles(): Promise<[path: string, text: string][]> {
  const folder = fileURLToPath(packageFile('specs-example/'));
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    // What trying it out in a checkout of flagkeel leaves there.
    .filter((path) => !path.startsWith('.flagkeel'));
  return Promise.all(
    paths.sort().map(async (path): Promise<[string, string]> => {
      const text = await readFile(join(folder, path), 'utf8');
      return [path, text.replace('$schema=../', '$schema=')];
    }),
  );
}

function asText(
  directory: string,
  { example = false }: Pick<InitOptions, 'example'>,
  results: readonly Written[],
): string {
  const lines = results.map(({ path, written }) => {
    return `${written ? 'wrote' : 'kept '} ${clean(path)}\n`;
  });
  // A path with spaces is one word in a shell only where it is quoted.
  const place = directory === '.' ? '' : ` ${quoted(directory)}`;
  return `${lines.join('')}
Next:
  flagkeel validate${place}
  flagkeel test${place}
  flagkeel plan --embedded${place}
${example ? `  flagkeel reconcile --embedded${place}\n` : ''}`;
}

/** docs/review.md says the same in the same words. */
const WORKFLOW_NEEDS: Readonly<Record<ForgeName, string>> = {
  github: `
On GitHub, set the variable \`FLAGKEEL_URL\` of the repository, and a secret \`FLAGKEEL_API_KEY\` in each of three environments.
In \`production\` it is a key that may write: allow only the branch \`main\` there, and require reviewers.
In \`flagkeel-review\` it is a key that may only read, because a branch can change the workflow of its own review.
In \`flagkeel-kill\` it is a key that may write: allow only the branch \`main\` there, and require no reviewers.
`,
  gitlab: `
On GitLab, set the variable \`FLAGKEEL_URL\` of the project, and a masked variable \`FLAGKEEL_API_KEY\` in the scope of each of three environments.
In \`production\` and in \`flagkeel-kill\` it is a key that may write: make both variables protected, so that only pipelines of \`main\` get them.
In \`flagkeel-review\` it is a key that may only read, and the variable is not protected: pipelines of merge requests get no protected one.
Set \`FLAGKEEL_GIT_TOKEN\`, masked and protected, to a project access token that may write the repository.
Set \`GITLAB_TOKEN\`, masked and not protected, to one with the scope \`api\` that may not push to \`main\`.
`,
};

type Starter = Pick<InitOptions, 'workspace' | 'trafficType'> & {
  readonly environments: readonly string[];
};

/** Path → text. The last environment is the protected one: only there the example is off for most. */
function starterFiles({ workspace, environments, trafficType }: Starter): Map<string, string> {
  const last = environments.at(-1) ?? '';
  const blocks = (ofLast: YamlValue, ofOthers: YamlValue): YamlValue =>
    mapping(...environments.map((name): Member => [name, name === last ? ofLast : ofOthers]));
  const config = mapping(
    ['workspace', workspace],
    ['environments', blocks(mapping(['protected', true]), mapping())],
    ['defaults', mapping(['trafficType', trafficType])],
  );
  const share = mapping(['defaultRule', mapping(['on', 10], ['off', 'rest'])]);
  const flag = mapping(
    ['flag', 'example-banner'],
    ['description', 'An example: replace it by a flag of your own.'],
    ['owner', 'your-team'],
    ['treatments', mapping(['on', 'The banner is shown'], ['off', 'No banner'])],
    ['defaultTreatment', 'off'],
    ['environments', blocks(share, mapping(['defaultRule', 'on']))],
  );
  const test = mapping(
    ['name', 'one in ten sees the banner'],
    ['environment', last],
    ['expect', mapping(['on', 10], ['off', 90])],
  );
  const files: [path: string, text: string][] = [
    ['flagkeel.yaml', yamlText(config)],
    ['flags/example-banner.yaml', yamlText(flag)],
    [
      'tests/example-banner.test.yaml',
      yamlText(mapping(['tests', 'example-banner'], ['cases', [test]])),
    ],
    [`kills/${last}.yaml`, KILLS],
    ['.gitattributes', GIT_ATTRIBUTES],
    ['CODEOWNERS', CODE_OWNERS],
  ];
  return withSchemaLines(new Map(files));
}

const KILLS = `# The break-glass list. An entry stops a flag at once:
#   example-banner: { reason: INC-1, by: ana }
kills: {}
`;

const GIT_ATTRIBUTES = `# Two people may add keys at the same time; flagkeel fmt sorts them afterwards.
*.keys merge=union
`;

const CODE_OWNERS = `# Who has to agree to which change. Take the sign off a line, and put your teams in:
# /kills/          @your-org/on-call
# /flagkeel.yaml  @your-org/platform

${EMPTY_BLOCK}`;

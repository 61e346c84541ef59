import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { median, type Service } from './client/measure.js';
import { line, table } from './client/table.js';
import { commit, emptyWorkspace, flagkeel, withOwn, type Workspace } from './client/workspace.js';

/**
 * The same flags by Terraform or OpenTofu with a provider for the same API, and by flagkeel: requests and time of a first
 * apply, of a run that changes nothing, and of a commit that changes one flag. Each gets a service of its own, which takes
 * 30 ms for every answer, and does what it does by default.
 *
 * Usage: `npm run bench:terraform -- TERRAFORM PROVIDER`, paths of the program and of a built `terraform-provider-split`.
 * `BENCH_TERRAFORM_FLAGS` (200) and `BENCH_ROUNDS` (5) make it smaller. Needs `npm run build`.
 */
const FLAGS = Number(process.env['BENCH_TERRAFORM_FLAGS'] ?? 200);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const PLACES = ['staging', 'production'] as const;
const SITUATIONS = ['first apply', 'nothing to do', 'one flag changed'] as const;

const [terraform, provider] = process.argv.slice(2);
if (terraform === undefined || provider === undefined) {
  throw new Error('usage: npm run bench:terraform -- TERRAFORM PROVIDER');
}

/** One tool, with the flags as it writes them. */
interface Tool {
  /** Writes the flags; the share of `on` of the first one is given. */
  readonly write: (workspace: Workspace, share: number) => void;
  readonly run: (workspace: Workspace, service: Service) => Promise<unknown>;
}

interface Cost {
  readonly requests: number;
  readonly writes: number;
  readonly seconds: number;
}

const TOOLS: Readonly<Record<string, Tool>> = {
  Terraform: { write: writeTerraform, run: applyTerraform },
  flagkeel: {
    write: writeSpecs,
    run: async (workspace, service) => flagkeel(workspace, service, 'reconcile'),
  },
};

/** In the order of `SITUATIONS`. */
async function costsOf({ write, run }: Tool): Promise<Cost[]> {
  const workspace = emptyWorkspace(FLAGS);
  const costs: Cost[] = [];
  await withOwn(workspace, false, async (service) => {
    await fetch(`${service.origin}/bench/slow`);
    for (const share of [10, 10, 25]) {
      write(workspace, share);
      await service.requests();
      costs.push(await costOf(service, async () => run(workspace, service)));
    }
  });
  return costs;
}

async function costOf(service: Service, run: () => Promise<unknown>): Promise<Cost> {
  const start = performance.now();
  await run();
  const seconds = (performance.now() - start) / 1_000;
  const { lines } = await service.requests();
  const writes = lines.filter((each) => !each.startsWith('GET')).length;
  return { requests: lines.length, writes, seconds };
}

const shareOf = (index: number, first: number): number => (index === 0 ? first : 10);

function writeSpecs({ repository }: Workspace, first: number): void {
  mkdirSync(join(repository, 'flags'), { recursive: true });
  const places = PLACES.map((place) => `${place}: {}`).join(', ');
  writeFileSync(
    join(repository, 'flagkeel.yaml'),
    `workspace: Default\nenvironments: { ${places} }\ndefaults: { trafficType: user }\n`,
  );
  for (let index = 0; index < FLAGS; index += 1) {
    const rule = `{ defaultRule: { "on": ${shareOf(index, first)}, "off": rest } }`;
    const environments = PLACES.map((place) => `${place}: ${rule}`).join(', ');
    writeFileSync(
      join(repository, 'flags', `flag-${index}.yaml`),
      `flag: flag-${index}\ntreatments: { "on": "", "off": "" }\ndefaultTreatment: "off"\nenvironments: { ${environments} }\n`,
    );
  }
  commit(repository, 'Write flags');
}

function writeTerraform({ repository }: Workspace, first: number): void {
  const data = PLACES.map(
    (place) =>
      `data "split_environment" "${place}" {\n  workspace_id = data.split_workspace.it.id\n  name = "${place}"\n}\n`,
  );
  const flags = Array.from({ length: FLAGS }, (_, index) => resourcesOf(index, first));
  writeFileSync(
    join(repository, 'main.tf'),
    [
      'terraform {\n  required_providers {\n    split = { source = "davidji99/split" }\n  }\n}',
      'data "split_workspace" "it" { name = "Default" }',
      'data "split_traffic_type" "user" {\n  workspace_id = data.split_workspace.it.id\n  name = "user"\n}',
      ...data,
      ...flags,
    ].join('\n'),
  );
  writeFileSync(
    join(repository, 'terraform.rc'),
    `provider_installation {\n  dev_overrides { "davidji99/split" = "${dirname(provider ?? '')}" }\n  direct {}\n}\n`,
  );
}

function resourcesOf(index: number, first: number): string {
  const share = shareOf(index, first);
  const definitions = PLACES.map(
    (place) => `resource "split_split_definition" "flag_${index}_${place}" {
  workspace_id      = data.split_workspace.it.id
  split_name        = split_split.flag_${index}.name
  environment_id    = data.split_environment.${place}.id
  default_treatment = "off"
  treatment {
    name           = "on"
    configurations = "{}"
  }
  treatment {
    name           = "off"
    configurations = "{}"
  }
  default_rule {
    treatment = "on"
    size      = ${share}
  }
  default_rule {
    treatment = "off"
    size      = ${100 - share}
  }
}`,
  );
  const flag = `resource "split_split" "flag_${index}" {
  workspace_id    = data.split_workspace.it.id
  traffic_type_id = data.split_traffic_type.user.id
  name            = "flag-${index}"
  description     = "The flag with the number ${index}"
}`;
  return [flag, ...definitions].join('\n');
}

async function applyTerraform({ repository }: Workspace, { origin, key }: Service): Promise<void> {
  const child = spawn(terraform ?? '', ['apply', '-auto-approve', '-input=false', '-no-color'], {
    cwd: repository,
    env: {
      PATH: process.env['PATH'] ?? '',
      TF_CLI_CONFIG_FILE: join(repository, 'terraform.rc'),
      CHECKPOINT_DISABLE: '1',
      SPLIT_API_KEY: key,
      SPLIT_API_URL: `${origin}/internal/api/v2`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`terraform ended with ${String(code)}: ${said.slice(-2_000)}`);
}

const rounds: Record<string, Cost[]>[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const costs: Record<string, Cost[]> = {};
  for (const [name, tool] of Object.entries(TOOLS)) costs[name] = await costsOf(tool);
  rounds.push(costs);
}

table(`${FLAGS} flags in ${PLACES.length} environments, 30 ms for an answer`, [
  'situation',
  ...Object.keys(TOOLS).flatMap((name) => [`${name}: requests`, 'writes', 's']),
]);
for (const [index, situation] of SITUATIONS.entries()) {
  const cells = Object.keys(TOOLS).flatMap((name) => {
    const of = (pick: (cost: Cost) => number): number =>
      median(rounds.flatMap((costs) => costs[name]?.slice(index, index + 1) ?? []).map(pick));
    return [
      of(({ requests }) => requests),
      of(({ writes }) => writes),
      of(({ seconds }) => seconds).toFixed(1),
    ];
  });
  line([situation, ...cells]);
}

import { FlagkeelError } from '../../errors.js';
import { newestCommits } from '../../git/log.js';
import { look } from '../../admin-api/look.js';
import { findEnvironment, findWorkspace } from '../../admin-api/workspace.js';
import { present } from '../../model/collections.js';
import {
  mostProtectedFirst,
  onLiveSteps,
  type Desired,
  type DesiredDefinition,
  type DesiredFlag,
} from '../../model/desired.js';
import { definitionFromWire, differingFields } from '../../model/flag/wire.js';
import { bucketOf, seedsOf, type Seeds } from '../../plan/impact/serving.js';
import { evaluate, type Answer, type Situation } from '../../plan/impact/evaluate.js';
import { isKillListed } from '../../plan/kills/orders.js';
import { quoted } from '../../report/sanitize.js';
import {
  explainedSteps,
  explainText,
  type ExplainedAnswer,
  type ExplainedDefinition,
  type ExplainedFlag,
  type ExplainedRule,
} from '../../report/text/explain.js';
import { didYouMean } from '../../specs/parse/suggest.js';
import { conditionsBehind } from '../../specs/usage.js';
import {
  collectObject,
  collectPair,
  repeatableOption,
  place,
  commonOptions,
  type CommonOptions,
} from '../options.js';
import type { DeclareCommand } from '../command.js';
import {
  onlineOptions,
  openDryRun,
  refuseWithoutOnline,
  type OnlineOptions,
  readRightSpecs,
  type RightSpecs,
} from '../right-specs.js';
import { entriesOf, entriesText } from '../code-entries.js';
import { ending, type Screen } from '../terminal.js';

interface ExplainOptions extends CommonOptions, OnlineOptions {
  readonly environment: readonly string[];
  readonly key?: string;
  readonly segment: readonly string[];
  readonly attribute?: Readonly<Record<string, string>>;
  readonly at?: number;
}

export const declareExplain: DeclareCommand = (command, invocation) => {
  command
    .argument('<object>', 'the flag: flag/NAME; or a code that a message names', objectOrCode)
    .argument('[directory]', 'config repository', '.')
    .addOption(repeatableOption('--environment <name>', 'only this environment'))
    .option('--key <key>', 'what this key gets')
    .addOption(repeatableOption('--segment <name>', 'what a key of this segment gets'))
    .option('--attribute <name=value>', 'what a key with it gets (repeatable)', collectPair)
    .option('--at <bucket>', 'take the key to fall into this bucket, 1 to 100', place);
  onlineOptions(command, 'what it has of the flag');
  commonOptions(command).action(ending(explain, invocation));
};

function objectOrCode(text: string): string {
  return text.includes('/') ? (collectObject(text, [])[0] ?? '') : text;
}

const MOST_COMMITS = 5;

async function explain(
  object: string,
  directory: string,
  options: ExplainOptions,
  screen: Screen,
): Promise<void> {
  if (!object.includes('/')) {
    const entries = await entriesOf(object);
    await screen.print({ entries }, () => entriesText(entries, screen));
    return;
  }
  refuseWithoutOnline(options);
  const specs = await readRightSpecs(directory, screen);
  const flag = flagOf(object, specs);
  const offline = await explainedFlag(flag, specs, options);
  const isOnline = options.online === true;
  const explained = isOnline ? await withLive(offline, flag, { specs, options, screen }) : offline;
  await screen.print(explained, () => explainText(explained, screen));
}

function flagOf(object: string, { desired }: RightSpecs): DesiredFlag {
  const name = object.slice(object.indexOf('/') + 1);
  if (!object.startsWith('flag/')) throw usage(object, 'only flags are explained, as flag/NAME');
  const flag = desired.flags.get(name);
  if (flag) return flag;
  throw usage(object, `there is no flag of that name${didYouMean(name, desired.flags.keys())}`);
}

async function explainedFlag(
  flag: DesiredFlag,
  specs: RightSpecs,
  options: ExplainOptions,
): Promise<ExplainedFlag> {
  const { name, location, fields, environments } = flag;
  const unknown = options.environment.find((each) => !environments.has(each));
  if (unknown !== undefined) {
    const why = `it is not declared for environment ${quoted(unknown)}${didYouMean(unknown, environments.keys())}`;
    throw usage(`flag/${name}`, why);
  }
  const { environment: asked } = options;
  const order = mostProtectedFirst(specs.desired.config.environments);
  const shown = [...environments]
    .filter(([each]) => asked.length === 0 || asked.includes(each))
    .toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  const files = new Set([location.file, ...shown.map(([, each]) => each.location.file)]);
  const owner = specs.parts.specs.named.flag.get(name)?.spec.owner;
  return {
    name,
    location,
    ...present({ description: fields.description, owner }),
    environments: shown.map((each) => explainedDefinition(name, each, specs, options)),
    commits: await newestCommits(specs.checkout, [...files], MOST_COMMITS),
  };
}

function explainedDefinition(
  name: string,
  [environment, definition]: readonly [string, DesiredDefinition],
  specs: RightSpecs,
  options: ExplainOptions,
): ExplainedDefinition {
  const { desired } = specs;
  const { creation, location } = definition;
  const { defaultTreatment, trafficAllocation, targets, defaultRule } = creation;
  const situation = situationOf(options);
  const answer = situation && evaluate(desired, { flag: name, environment }, situation);
  return {
    environment,
    location,
    killed: creation.killed || isKillListed(desired, name, environment),
    defaultTreatment,
    trafficAllocation,
    targets,
    rules: rulesOf(name, environment, definition, specs),
    ...explainedSteps(definition),
    defaultRule,
    ...(answer && { answer: explainedAnswer(answer) }),
  };
}

async function withLive(
  explained: ExplainedFlag,
  flag: DesiredFlag,
  { specs, options, screen }: { specs: RightSpecs; options: ExplainOptions; screen: Screen },
): Promise<ExplainedFlag> {
  const { desired, named } = specs;
  const { name } = flag;
  await using run = await openDryRun(named.directory, options, screen);
  const reader = await run.context.openReader(desired);
  const at = await findWorkspace(reader, desired.config.workspace);
  const ids = await run.context.flagIdsOf(at);
  const environments = explained.environments.map(async (each) => {
    const { environment } = each;
    const { id: environmentId } = findEnvironment(at, environment);
    const place = { workspaceId: at.workspace.id, environmentId };
    const lookAt = async (called: string): ReturnType<typeof look> =>
      look(reader, place, { name: called, id: ids.get(called) }, 'list');
    const live = await lookAt(name);
    if (live.is === 'unknown') return { ...each, live: live.is };
    if (live.is === 'absent') return { ...each, live: null };
    const canonical = definitionFromWire(live.definition);
    const { killed, defaultRule } = canonical;
    const declared = onLiveSteps(flag, environment, canonical).environments.get(environment);
    const differs = differingFields(live.definition, declared?.fields ?? {});
    const { seed = null, allocationSeed: trafficAllocationSeed = null } =
      seedsOf(live.definition) ?? {};
    const known = async (called: string): ReturnType<typeof look> =>
      called === name ? live : lookAt(called);
    const hashed = await hashedAnswer({ flag: name, environment }, desired, options, known);
    return {
      ...each,
      ...hashed,
      live: { killed, differs, defaultRule, seed, trafficAllocationSeed },
    };
  });
  return { ...explained, environments: await Promise.all(environments) };
}

/** The answer with the live shares of steps. The bucket of a key follows from the seeds that the service shows. */
async function hashedAnswer(
  asked: { readonly flag: string; readonly environment: string },
  desired: Desired,
  options: ExplainOptions,
  lookAt: (flag: string) => ReturnType<typeof look>,
): Promise<Pick<ExplainedDefinition, 'answer'>> {
  const { key } = options;
  const situation = situationOf(options);
  if (situation === undefined) return {};
  const seeds = new Map<string, Seeds>();
  const flags = new Map(desired.flags);
  for (const name of evaluate(desired, asked, situation)?.behind ?? []) {
    const live = await lookAt(name);
    const flag = flags.get(name);
    if (live.is !== 'seen') continue;
    const shown = seedsOf(live.definition);
    if (shown) seeds.set(name, shown);
    if (!flag) continue;
    const canonical = definitionFromWire(live.definition);
    flags.set(name, onLiveSteps(flag, asked.environment, canonical));
  }
  const answer = evaluate({ ...desired, flags }, asked, { ...situation, seeds });
  if (!answer) return {};
  if (key === undefined) return { answer: explainedAnswer(answer) };
  const own = seeds.get(asked.flag);
  const bucket = own ? bucketOf(key, own.seed) : null;
  return { answer: { ...explainedAnswer(answer), bucket } };
}

function situationOf({ key, segment, attribute, at }: ExplainOptions): Situation | undefined {
  const segments = segment.length > 0 ? segment : undefined;
  const situation = present({ key, segments, attributes: attribute, at });
  return Object.keys(situation).length === 0 ? undefined : situation;
}

function rulesOf(
  name: string,
  environment: string,
  { creation, ruleNames, location }: DesiredDefinition,
  { parts }: RightSpecs,
): ExplainedRule[] {
  const written = parts.flags.find((each) => each.name === name)?.environments.get(environment);
  return creation.rules.map((rule, position) => {
    const { file, path } = written?.rules ?? {};
    const ruleName = ruleNames[position];
    const conditions = [written?.rules?.value[position]?.if ?? []].flat();
    const named = conditions.flatMap(({ use }) => use ?? []);
    const behind = named.flatMap((use) => [use, ...conditionsBehind(use, parts.specs)]);
    const uses = [...new Set(behind)];
    return {
      ...rule,
      ...(ruleName !== undefined && { name: ruleName }),
      ...(uses.length > 0 && { uses }),
      location: file && path ? file.location([...path, position]) : location,
    };
  });
}

function explainedAnswer(answer: Answer): ExplainedAnswer {
  const shares = [...answer.shares]
    .toSorted(([, a], [, b]) => b.most - a.most)
    .map(([treatment, { least, most }]) => ({ treatment, atLeast: least, atMost: most }));
  return { shares, by: decider(answer), untold: answer.isCertain ? [] : answer.untold };
}

/** What decides; several rules if it is not known which of them the key meets. */
function decider({ killed, isTarget, rules }: Answer): string {
  if (killed) return 'killed';
  if (isTarget) return 'target';
  const met = rules.indexOf(true);
  const perhaps = rules.flatMap((each, position) =>
    each === null && (met === -1 || position < met) ? [`rule ${position + 1}`] : [],
  );
  return [...perhaps, met === -1 ? 'default rule' : `rule ${met + 1}`].join(' or ');
}

function usage(object: string, why: string): FlagkeelError {
  return new FlagkeelError('USAGE', `cannot explain ${quoted(object)}: ${why}`);
}

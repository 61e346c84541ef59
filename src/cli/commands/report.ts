import { fileAges } from '../../git/log.js';
import type { FileAge } from '../../lint/rule.js';
import { agedFlags } from '../../lint/stale.js';
import { present } from '../../model/collections.js';
import type { DesiredFlag, DesiredSegment } from '../../model/desired.js';
import { withTag } from '../../model/flag/fields.js';
import { byCodeUnits } from '../../model/json.js';
import { isKillListed } from '../../plan/kills/orders.js';
import {
  cataloguedDefinition,
  cataloguePage,
  type Catalogue,
  type CataloguedFlag,
  type CataloguedSegment,
  type CataloguedUse,
} from '../../report/html/catalogue.js';
import { referencesOf } from '../../specs/resolve/references.js';
import type { ResolvedFlag } from '../../specs/resolve/flags.js';
import type { DeclareCommand } from '../command.js';
import { commonOptions } from '../options.js';
import { readRightSpecs, warnIfShallow, type RightSpecs } from '../right-specs.js';
import { ending, type Screen } from '../terminal.js';

export const declareReport: DeclareCommand = (command, invocation) => {
  command.argument('[directory]', 'config repository', '.');
  commonOptions(command, ['html', 'json']).action(ending(report, invocation));
};

async function report(directory: string, _: object, screen: Screen): Promise<void> {
  const specs = await readRightSpecs(directory, screen);
  const today = new Date().toISOString().slice(0, 10);
  const ages = await fileAges(specs.checkout);
  warnIfShallow(specs.checkout, screen);
  const aged = agedFlags(specs.parts, ages, { today, days: 0 });
  const catalogue = catalogueOf(specs, new Map(aged.map(({ flag, age }) => [flag.name, age])));
  await screen.print(catalogue, () => cataloguePage(catalogue, today));
}

type Ages = ReadonlyMap<string, FileAge | undefined>;

function catalogueOf(specs: RightSpecs, ages: Ages): Catalogue {
  const { desired, commit, parts } = specs;
  const resolved = new Map(parts.flags.map((flag) => [flag.name, flag]));
  const { workspace, environments } = desired.config;
  return {
    workspace,
    commit,
    environments: environments.map(({ name }) => name),
    protectedEnvironments: environments.filter((each) => each.protected).map(({ name }) => name),
    flags: [...desired.flags.values()].map((flag) => ({
      ...cataloguedFlag(flag, specs),
      uses: usesOf(resolved.get(flag.name)),
      ...ages.get(flag.name),
    })),
    segments: [...desired.segments.values()].map(cataloguedSegment),
  };
}

function cataloguedFlag(
  { name, location, fields, creation: sent = fields, ownershipTag, environments }: DesiredFlag,
  { desired, parts }: RightSpecs,
): Omit<CataloguedFlag, 'uses'> {
  const { owner, expires } = parts.specs.named.flag.get(name)?.spec ?? {};
  return {
    name,
    file: location.file,
    ...present({ description: sent.description, owner, expires }),
    tags: withTag(sent, ownershipTag).tags ?? [],
    environments: [...environments].map(([environment, definition]) =>
      cataloguedDefinition(environment, definition, isKillListed(desired, name, environment)),
    ),
  };
}

/** Sorted by kind and name; environments in the order of the file. */
function usesOf(flag: ResolvedFlag | undefined): CataloguedUse[] {
  const uses = new Map<string, { kind: CataloguedUse['kind']; name: string; at: Set<string> }>();
  for (const { kind, name, environment } of flag ? referencesOf(flag) : []) {
    const id = `${kind}/${name}`;
    const use = uses.get(id) ?? { kind, name, at: new Set<string>() };
    use.at.add(environment);
    uses.set(id, use);
  }
  return [...uses]
    .sort(([a], [b]) => byCodeUnits(a, b))
    .map(([, { kind, name, at }]) => ({ kind, name, environments: [...at] }));
}

function cataloguedSegment({ name, location, environments }: DesiredSegment): CataloguedSegment {
  const counts = [...environments].map(
    ([each, { keys }]) => [each, keys?.digest.count ?? null] as const,
  );
  return { name, file: location.file, environments: Object.fromEntries(counts) };
}

/**
 * What a service holds, as it answers it itself to plain requests, in the same words as `written`. Nothing of ours takes
 * part: paths, lists and pages are asked for here by hand.
 */

/** Path of a field, as plans name it → what is there. */
export type RawFields = ReadonlyMap<string, unknown>;

/** What is there, by `KIND/NAME` or `KIND/NAME@ENVIRONMENT`. */
export type RawState = ReadonlyMap<string, RawFields>;

/** Asks the service; null: 404. */
export type Ask = (path: string) => Promise<unknown>;

export interface RawPlace {
  readonly workspaceId: string;
  /** Name → id. */
  readonly environments: ReadonlyMap<string, string>;
}

/** What may be there: nothing else is looked for. */
export interface Names {
  readonly flags: readonly string[];
  readonly segments: readonly string[];
}

type Answer = Readonly<Record<string, unknown>>;

/** All that is there under these names. */
export async function readRawState(place: RawPlace, names: Names, ask: Ask): Promise<RawState> {
  const flags = names.flags.map(async (name) => readFlag(place, name, ask));
  const all = await listed(`/segments/ws/${place.workspaceId}`, ask);
  const segments = names.segments.map(async (name) => readSegment(place, name, all, ask));
  const found = await Promise.all([...flags, ...segments]);
  return new Map(found.flat());
}

async function readFlag(
  { workspaceId, environments }: RawPlace,
  name: string,
  ask: Ask,
): Promise<[string, RawFields][]> {
  const path = `/splits/ws/${workspaceId}/${name}`;
  const flag = (await ask(path)) as Answer | null;
  const definitions = [...environments].map(async ([environment, id]) => {
    const definition = (await ask(`${path}/environments/${id}`)) as Answer | null;
    const found: [string, RawFields][] = definition
      ? [[`flag/${name}@${environment}`, definitionFields(definition)]]
      : [];
    return found;
  });
  const whole: [string, RawFields][] = flag ? [[`flag/${name}`, flagFields(flag)]] : [];
  return [...whole, ...(await Promise.all(definitions)).flat()];
}

function flagFields(flag: Answer): RawFields {
  return new Map<string, unknown>([
    ['/trafficType', (flag['trafficType'] as Answer)['name']],
    ['/description', flag['description'] ?? ''],
    ['/tags', ((flag['tags'] ?? []) as Answer[]).map(({ name }) => String(name)).sort()],
  ]);
}

interface RawTreatment {
  readonly name: string;
  readonly description?: string | null;
  readonly configurations?: string | null;
  readonly keys?: readonly string[] | null;
}

function definitionFields(definition: Answer): RawFields {
  const treatments = definition['treatments'] as readonly RawTreatment[];
  const rules = (definition['rules'] ?? []) as readonly Answer[];
  return new Map<string, unknown>([
    [
      '/treatments',
      treatments.map(({ name, description, configurations }) => ({
        name,
        description: description ?? '',
        configuration: configurations ? (JSON.parse(configurations) as unknown) : null,
      })),
    ],
    ['/defaultTreatment', definition['defaultTreatment']],
    ['/baselineTreatment', definition['baselineTreatment']],
    ['/trafficAllocation', definition['trafficAllocation']],
    ['/killed', definition['killed']],
    ['/rules', rules.map(rawRule)],
    ['/defaultRule', rawBuckets(definition['defaultRule'])],
    ...treatments.map(({ name, keys }): [string, unknown] => [
      `/targets/${name}`,
      [...(keys ?? [])].sort(),
    ]),
  ]);
}

function rawRule({ condition, buckets }: Answer): unknown {
  const { matchers } = condition as { readonly matchers: readonly Answer[] };
  return { matchers: matchers.map(rawMatcher), buckets: rawBuckets(buckets) };
}

/** What means nothing where it stands is left out. */
function rawMatcher({ negate, ...matcher }: Answer): unknown {
  const said = Object.entries(matcher).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  const sorted = said.map(([name, value]): [string, unknown] => {
    if (name === 'strings') return [name, [...(value as string[])].sort()];
    if (name !== 'depends') return [name, value];
    const { splitName, treatments } = value as { splitName: string; treatments: string[] };
    return [name, { splitName, treatments: [...treatments].sort() }];
  });
  return { ...Object.fromEntries(sorted), negate: negate === true };
}

function rawBuckets(buckets: unknown): unknown {
  return (buckets as readonly { treatment: string; size: number }[])
    .filter(({ size }) => size > 0)
    .map(({ treatment, size }) => ({ treatment, size }));
}

async function readSegment(
  { environments }: RawPlace,
  name: string,
  all: readonly Answer[],
  ask: Ask,
): Promise<[string, RawFields][]> {
  const segment = all.find((each) => each['name'] === name);
  const whole: [string, RawFields][] = segment
    ? [
        [
          `segment/${name}`,
          new Map<string, unknown>([
            ['/trafficType', (segment['trafficType'] as Answer)['name']],
            ['/description', segment['description'] ?? ''],
          ]),
        ],
      ]
    : [];
  const places = [...environments].map(async ([environment, id]) => {
    const keys = await rawKeys(`/segments/${id}/${name}/keys`, ask);
    const found: [string, RawFields][] = keys
      ? [[`segment/${name}@${environment}`, new Map([['keys', keys]])]]
      : [];
    return found;
  });
  return [...whole, ...(await Promise.all(places)).flat()];
}

async function listed(path: string, ask: Ask): Promise<Answer[]> {
  const found: Answer[] = [];
  for (;;) {
    const page = (await ask(`${path}?limit=20&offset=${found.length}`)) as { objects: Answer[] };
    found.push(...page.objects);
    if (page.objects.length < 20) return found;
  }
}

/** @returns null: it is not active there. */
async function rawKeys(path: string, ask: Ask): Promise<string[] | null> {
  const found: string[] = [];
  for (;;) {
    const page = (await ask(`${path}?limit=100&offset=${found.length}`)) as {
      keys: { key: string }[];
    } | null;
    if (page === null) return null;
    found.push(...page.keys.map(({ key }) => key));
    if (page.keys.length < 100) return found.sort();
  }
}

import { parse } from 'yaml';

/**
 * What spec files say, read by nothing of ours: a second reader of the same language, so that an error in the first
 * one is a difference between the two. It knows the part of the language that the stories write, and throws at the rest.
 */

/** Path below the config directory → text. */
type SpecFiles = ReadonlyMap<string, string>;
/** Path of a field, as plans name it → what it should be. A field that is not managed is absent. */
export type WrittenFields = ReadonlyMap<string, unknown>;

/** What is to be, by `KIND/NAME` or `KIND/NAME@ENVIRONMENT`. */
export interface Written {
  readonly objects: ReadonlyMap<string, WrittenFields>;
  /** `flag/NAME@ENVIRONMENT` of the definitions whose kill git orders, of this repository or not. */
  readonly kills: ReadonlySet<string>;
  /** Environments with a break-glass list, empty ones too. */
  readonly killLists: ReadonlySet<string>;
}

export interface WrittenTreatment {
  readonly name: string;
  /** Undefined: left as it is. */
  readonly description?: string;
  readonly configuration?: unknown;
}

export interface WrittenKeys {
  readonly mode: string;
  readonly keys: readonly string[];
}

interface Members {
  readonly [name: string]: Value | undefined;
}
type Value = string | readonly Value[] | Members;

/** @throws Error a file that these stories do not write, or YAML that is none. */
export function readWritten(files: SpecFiles): Written {
  const objects = new Map<string, WrittenFields>();
  const kills = new Set<string>();
  const killLists = new Set<string>();
  const texts = [...files].filter(([path]) => path.endsWith('.yaml'));
  const config = members(parsed(files.get('flagkeel.yaml') ?? ''));
  const trafficType = text(members(config['defaults'])['trafficType']);
  for (const [path, content] of texts) {
    const file = members(parsed(content));
    const folder = path.split('/')[0];
    if (folder === 'flags') readFlag(file, trafficType, objects, kills);
    else if (folder === 'segments') readSegment(file, trafficType, objects);
    else if (folder === 'kills') {
      const environment = path.slice('kills/'.length, -'.yaml'.length);
      killLists.add(environment);
      for (const flag of Object.keys(members(file['kills']))) {
        kills.add(`flag/${flag}@${environment}`);
      }
    } else if (path !== 'flagkeel.yaml') throw new Error(`no story writes ${path}`);
  }
  for (const id of kills) {
    const said = objects.get(id);
    if (said) objects.set(id, new Map(said).set('/killed', true));
  }
  return { objects, kills, killLists };
}

/** Every scalar stays the text that it is. */
function parsed(content: string): unknown {
  return parse(content, { schema: 'failsafe', uniqueKeys: true });
}

function readFlag(
  file: Members,
  usualTrafficType: string,
  objects: Map<string, WrittenFields>,
  kills: Set<string>,
): void {
  const name = text(file['flag']);
  const whole = new Map<string, unknown>();
  whole.set('/trafficType', optionalText(file['trafficType']) ?? usualTrafficType);
  if (file['description'] !== undefined) whole.set('/description', text(file['description']));
  if (file['tags'] !== undefined) whole.set('/tags', texts(file['tags']).sort());
  objects.set(`flag/${name}`, whole);
  for (const [environment, block] of Object.entries(members(file['environments']))) {
    const id = `flag/${name}@${environment}`;
    const fields = readDefinition(file, members(block));
    objects.set(id, fields);
    if (fields.get('/killed') === true) kills.add(id);
  }
}

function readDefinition(flag: Members, block: Members): WrittenFields {
  const of = (field: string): Value | undefined => block[field] ?? flag[field];
  const treatments = Object.entries(members(of('treatments'))).map(([name, said]) =>
    readTreatment(name, said),
  );
  const order = treatments.map(({ name }) => name);
  const fields = new Map<string, unknown>([
    ['/treatments', treatments],
    ['/defaultTreatment', text(of('defaultTreatment'))],
    ['/trafficAllocation', Number(optionalText(block['trafficAllocation']) ?? '100')],
    ['/rules', list(block['rules']).map((rule) => readRule(members(rule), order))],
    ['/defaultRule', readBuckets(block['defaultRule'], order)],
  ]);
  const baseline = of('baselineTreatment');
  if (baseline !== undefined) fields.set('/baselineTreatment', text(baseline));
  const targets = members(block['targets']);
  for (const name of order) fields.set(`/targets/${name}`, texts(targets[name]).sort());
  const killed = optionalText(block['killed']);
  if (killed !== undefined) fields.set('/killed', killed === 'true');
  for (const field of texts(block['unmanaged'])) {
    for (const path of [...fields.keys()]) {
      if (path === `/${field}` || path.startsWith(`/${field}/`)) fields.delete(path);
    }
  }
  return fields;
}

function readTreatment(name: string, said: Value | undefined): WrittenTreatment {
  if (said === undefined || typeof said === 'string') return { name, description: said ?? '' };
  const { description, configuration } = members(said);
  return {
    name,
    ...(description !== undefined && { description: text(description) }),
    ...(configuration !== undefined && { configuration: plainNumbers(configuration) }),
  };
}

function readRule(rule: Members, order: readonly string[]): unknown {
  const conditions = Array.isArray(rule['if']) ? list(rule['if']) : [rule['if'] ?? {}];
  return {
    matchers: conditions.map((condition) => readCondition(members(condition))),
    buckets: readBuckets(rule['serve'], order),
  };
}

function readCondition(condition: Members): unknown {
  const { segment, flag, treatments, attribute, atLeast, not, in: listed } = condition;
  const negate = optionalText(not) === 'true';
  if (segment !== undefined) return { type: 'IN_SEGMENT', string: text(segment), negate };
  if (flag !== undefined) {
    const depends = { splitName: text(flag), treatments: texts(treatments).sort() };
    return { type: 'IN_SPLIT', depends, negate };
  }
  const of = attribute === undefined ? {} : { attribute: text(attribute) };
  if (listed !== undefined) {
    return { type: 'IN_LIST_STRING', strings: texts(listed).sort(), ...of, negate };
  }
  if (atLeast !== undefined) {
    return { type: 'GREATER_THAN_OR_EQUAL_NUMBER', number: Number(text(atLeast)), ...of, negate };
  }
  throw new Error(`no story writes the condition ${JSON.stringify(condition)}`);
}

/** Shares by treatment in the order of the treatments; what takes none is left out. */
function readBuckets(said: Value | undefined, order: readonly string[]): unknown {
  if (typeof said === 'string') return [{ treatment: said, size: 100 }];
  const sizes = members(said);
  const given = Object.values(sizes).filter((size) => size !== 'rest');
  const rest = 100 - given.reduce((sum: number, size) => sum + Number(size), 0);
  return order.flatMap((treatment) => {
    const said = sizes[treatment];
    if (said === undefined) return [];
    const size = said === 'rest' ? rest : Number(said);
    return size === 0 ? [] : [{ treatment, size }];
  });
}

function readSegment(
  file: Members,
  usualTrafficType: string,
  objects: Map<string, WrittenFields>,
): void {
  const name = text(file['segment']);
  const whole = new Map<string, unknown>();
  whole.set('/trafficType', optionalText(file['trafficType']) ?? usualTrafficType);
  const description = optionalText(file['description']) ?? '';
  if (description !== '') whole.set('/description', description);
  objects.set(`segment/${name}`, whole);
  for (const [environment, block] of Object.entries(members(file['environments']))) {
    const { mode, keys } = members(block);
    const said: WrittenKeys = { mode: optionalText(mode) ?? 'exact', keys: texts(keys).sort() };
    const fields = keys === undefined ? [] : [['keys', said] as const];
    objects.set(`segment/${name}@${environment}`, new Map(fields));
  }
}

function members(value: unknown): Members {
  if (value === undefined || value === null || value === '') return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw new Error('a mapping was expected');
  return value as Members;
}

function list(value: Value | undefined): readonly Value[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly Value[]) : [value];
}

function texts(value: Value | undefined): string[] {
  return list(value).map(text);
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error(`a text was expected: ${JSON.stringify(value)}`);
  return value;
}

function optionalText(value: Value | undefined): string | undefined {
  return value === undefined ? undefined : text(value);
}

/** Values of a configuration: of these stories only numbers are no texts. */
function plainNumbers(value: Value | undefined): unknown {
  if (value === undefined) return undefined;
  if (typeof value === 'string') return /^\d+$/.test(value) ? Number(value) : value;
  if (Array.isArray(value)) return (value as readonly Value[]).map(plainNumbers);
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, plainNumbers(each)]),
  );
}

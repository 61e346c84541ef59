import { definitionFromWire, flagFieldsFromWire } from '../../kinds/flag-wire.js';
import { byCodeUnits } from '../../kinds/json.js';
import { FLAG_NAME, RESERVED_FLAG_NAMES, SEGMENT_NAME } from '../../kinds/names.js';
import type { Actual, ActualFlag, ActualSegment } from '../../model/actual.js';
import { CONFIG_PATH } from '../load-files.js';
import { flagFileText } from './flag-file.js';
import { foreignReferences } from './foreign-references.js';
import type { LiveFlag, LiveSegment } from './live-objects.js';
import { segmentFiles } from './segment-file.js';
import { Flow, mapping, yamlText, type Member, type Written } from './yaml-text.js';

/** An environment that is written, in the order of application. */
export interface EnvironmentToWrite {
  /** As the specs name it. */
  readonly configName: string;
  /** As the service names it. */
  readonly name: string;
  readonly production: boolean;
}

export interface WorkspaceToWrite {
  /** Name or id, as the config names it. */
  readonly workspace: string;
  readonly environments: readonly EnvironmentToWrite[];
  /** Its flags and segments are written, in these environments. */
  readonly actual: Actual;
}

/**
 * The config repository that says what the service says: path → text, sorted by path. Equal states give equal bytes.
 *
 * @param of free of names that no file can have: see `nameProblems`.
 */
export function workspaceFiles(of: WorkspaceToWrite): ReadonlyMap<string, string> {
  const flags = liveFlags(of);
  const segments = liveSegments(of);
  const taken = new Set<string>();
  const files = [
    [CONFIG_PATH, configText(of, flags, segments)] as const,
    ...flags.map((flag) => [`flags/${flag.name}.yaml`, textOf(flag)] as const),
    ...segments.flatMap((segment) => [...segmentFiles(segment, taken)]),
  ];
  return new Map(files.toSorted(([a], [b]) => byCodeUnits(a, b)));
}

function textOf({ name, trafficType, actual, environments }: LiveFlag): string {
  const fields = actual.flag ? flagFieldsFromWire(actual.flag) : {};
  return flagFileText({ name, trafficType, fields, environments });
}

function configText(
  { workspace, environments }: WorkspaceToWrite,
  flags: readonly LiveFlag[],
  segments: readonly LiveSegment[],
): string {
  const foreign = foreignReferences(flags, segments);
  const blocks = environments.map(({ configName, production }): Member => {
    const policies: Member[] = production ? [['protected', true]] : [];
    return [configName, new Flow(mapping(...policies))];
  });
  const references = mapping(
    ['segments', nonEmpty(foreign.segments)],
    ['flags', nonEmpty(foreign.flags)],
  );
  return yamlText(
    mapping(
      ['workspace', workspace],
      ['environments', mapping(...blocks)],
      ['references', references.size === 0 ? undefined : references],
    ),
  );
}

function nonEmpty(names: readonly string[]): Written | undefined {
  return names.length === 0 ? undefined : names;
}

function liveFlags({ actual, environments }: WorkspaceToWrite): LiveFlag[] {
  return byName(actual.flags).map(([name, flag]) => {
    const definitions = environments.flatMap((environment) => {
      const definition = flag.definitions.get(environment.name);
      if (!definition) return [];
      return [[environment.configName, definitionFromWire(definition)] as const];
    });
    return {
      name,
      actual: flag,
      trafficType: trafficTypeOf(flag),
      environments: new Map(definitions),
    };
  });
}

function trafficTypeOf({ flag, definitions }: ActualFlag): string {
  const defined = [...definitions.values()].find((each) => each !== null);
  return (flag ?? defined)?.trafficType.name ?? '';
}

function liveSegments({ actual, environments }: WorkspaceToWrite): LiveSegment[] {
  return byName(actual.segments).flatMap(([name, { segment, environments: live }]) => {
    if (!segment) return [];
    const active = environments.flatMap(({ configName, name: environment }) => {
      const found = live.get(environment);
      return found?.active === true ? [[configName, found.keys?.keys ?? []] as const] : [];
    });
    return [
      {
        name,
        trafficType: segment.trafficType.name,
        description: segment.description ?? '',
        environments: new Map(active),
      },
    ];
  });
}

function byName<T extends ActualFlag | ActualSegment>(
  objects: ReadonlyMap<string, T>,
): (readonly [string, T])[] {
  return [...objects].toSorted(([a], [b]) => byCodeUnits(a, b));
}

/** File systems take no longer names. */
const MAX_FILE_NAME_BYTES = 255;
/** What stands behind the name of an object in a file name: its environment, and `.keys`. */
const MAX_ENDING_BYTES = 110;

/** Why objects cannot be written, one line each: a file is named like its object. */
export function nameProblems({ flags, segments }: Pick<Actual, 'flags' | 'segments'>): string[] {
  return [
    ...[...flags.keys()].flatMap((name) => {
      if (RESERVED_FLAG_NAMES.has(name)) return [`flag "${name}": the name is a reserved word`];
      return nameProblem('flag', name, FLAG_NAME);
    }),
    ...[...segments.keys()].flatMap((name) => nameProblem('segment', name, SEGMENT_NAME)),
  ].toSorted(byCodeUnits);
}

function nameProblem(kind: string, name: string, pattern: RegExp): string[] {
  if (!pattern.test(name)) return [`${kind} "${name}": the name cannot be a file name of a spec`];
  if (name.length <= MAX_FILE_NAME_BYTES - MAX_ENDING_BYTES) return [];
  return [`${kind} "${name}": the name is too long for a file name`];
}

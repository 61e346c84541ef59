import { FlagkeelError } from '../../errors.js';
import type { Definition } from '../../model/flag/flag.js';
import { parseForeignYaml, type ForeignNode } from '../../specs/parse/foreign-yaml.js';
import type {
  EnvironmentToWrite,
  FlagToWrite,
  RepositoryToWrite,
  SegmentToWrite,
} from '../object-files.js';

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Values that the file may not contain. */
export interface SourceOptions {
  /** Names. If empty, those of the file. */
  readonly environments: readonly string[];
  /** For flags and segments whose traffic type the file does not give. */
  readonly trafficType: string;
}

/** A difference between the specs and the file, or something left out. */
export interface Departure {
  /** `FILE:LINE`, or the address of a resource. */
  readonly place: string;
  readonly what: string;
}

interface Converted extends Omit<RepositoryToWrite, 'workspace'> {
  readonly workspace?: string | undefined;
  readonly departures: readonly Departure[];
}

/** Converts the files of one tool. Pure. @throws FlagkeelError `SPECS_INVALID` if the text is no file of that tool. */
export type ConvertSource = (file: SourceFile, options: SourceOptions) => Converted;

export class Conversion {
  readonly departures: Departure[] = [];
  readonly #environments = new Map<string, EnvironmentToWrite>();
  readonly #flags = new Map<string, Open<FlagToWrite, Definitions>>();
  readonly #segments = new Map<string, Open<SegmentToWrite, Keys>>();

  depart(place: string, what: string): void {
    this.departures.push({ place, what });
  }

  /** If the environment exists already, keeps its first settings. */
  addEnvironment(name: string, production = false): void {
    if (!this.#environments.has(name)) this.#environments.set(name, { name, production });
  }

  /** The flag of that name with its first settings, to add environments to. */
  flag(flag: Omit<FlagToWrite, 'environments'>): { environments: Map<string, Definitions> } {
    return openIn(this.#flags, flag);
  }

  hasFlag(name: string): boolean {
    return this.#flags.has(name);
  }

  segment(segment: Omit<SegmentToWrite, 'environments'>): { environments: Map<string, Keys> } {
    return openIn(this.#segments, segment);
  }

  hasSegment(name: string): boolean {
    return this.#segments.has(name);
  }

  result(workspace?: string): Converted {
    return {
      workspace,
      environments: [...this.#environments.values()],
      flags: [...this.#flags.values()],
      segments: [...this.#segments.values()],
      departures: this.departures,
    };
  }
}

type Definitions = Required<Definition>;
type Keys = readonly string[] | null;
/** An object whose environments are still being found. */
type Open<T, Part> = Omit<T, 'environments'> & { environments: Map<string, Part> };

function openIn<T extends { readonly name: string }, Part>(
  objects: Map<string, T & { environments: Map<string, Part> }>,
  object: T,
): { environments: Map<string, Part> } {
  const found = objects.get(object.name) ?? { ...object, environments: new Map<string, Part>() };
  objects.set(object.name, found);
  return found;
}

export function notOfTool(path: string, why: string): FlagkeelError {
  return new FlagkeelError('SPECS_INVALID', `cannot import from "${path}": ${why}`);
}

/** @throws FlagkeelError `SPECS_INVALID` if the text is not YAML, or uses unsupported features. */
export function foreignYaml({ path, text }: SourceFile): ForeignNode {
  return parseForeignYaml(text, (line, why) => notOfTool(path, `line ${line}: ${why}`));
}

export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

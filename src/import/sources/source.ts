import { FlagkeelError } from '../../errors.js';
import type { Definition } from '../../model/flag/flag.js';
import { parseForeignYaml, type ForeignNode } from '../../specs/parse/foreign-yaml.js';
import type {
  EnvironmentToWrite,
  FlagToWrite,
  RepositoryToWrite,
  SegmentToWrite,
} from '../objects-to-write.js';

/** A file that another tool wrote. */
export interface SourceFile {
  /** As the command line has it. */
  readonly path: string;
  readonly text: string;
}

/** What the file may leave unsaid. */
export interface SourceOptions {
  /** Names; empty: those of the file. */
  readonly environments: readonly string[];
  /** Of flags and segments of which the file does not say it. */
  readonly trafficType: string;
}

/** What specs say otherwise than the file did, or do not say. */
export interface Departure {
  /** `FILE:LINE`, or the address of a resource. */
  readonly place: string;
  readonly what: string;
}

/** What a file says, in our words. */
export interface Converted extends Omit<RepositoryToWrite, 'workspace'> {
  /** Absent: the file does not name it. */
  readonly workspace?: string | undefined;
  /** As they were found. */
  readonly departures: readonly Departure[];
}

/**
 * Reads the files of one tool. Pure.
 *
 * @throws FlagkeelError `SPECS_INVALID`: the text is no file of that tool.
 */
export type ConvertSource = (file: SourceFile, options: SourceOptions) => Converted;

/** What one conversion has found so far. */
export class Conversion {
  readonly departures: Departure[] = [];
  readonly #environments = new Map<string, EnvironmentToWrite>();
  readonly #flags = new Map<string, FlagToWrite & { environments: Map<string, Definitions> }>();
  readonly #segments = new Map<string, SegmentToWrite & { environments: Map<string, Keys> }>();

  /** Notes that specs do not say it as the file did. */
  depart(place: string, what: string): void {
    this.departures.push({ place, what });
  }

  /** Of one that was added before, what was said first holds. */
  addEnvironment(name: string, production = false): void {
    if (!this.#environments.has(name)) this.#environments.set(name, { name, production });
  }

  /** The flag of that name, as it was added first; environments are added to it. */
  flag(flag: Omit<FlagToWrite, 'environments'>): { environments: Map<string, Definitions> } {
    const found = this.#flags.get(flag.name);
    if (found) return found;
    const added = { ...flag, environments: new Map<string, Definitions>() };
    this.#flags.set(flag.name, added);
    return added;
  }

  hasFlag(name: string): boolean {
    return this.#flags.has(name);
  }

  /** The segment of that name, as it was added first; environments are added to it. */
  segment(segment: Omit<SegmentToWrite, 'environments'>): { environments: Map<string, Keys> } {
    const found = this.#segments.get(segment.name);
    if (found) return found;
    const added = { ...segment, environments: new Map<string, Keys>() };
    this.#segments.set(segment.name, added);
    return added;
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

/** The file is not what the tool writes. */
export function notOfTool(path: string, why: string): FlagkeelError {
  return new FlagkeelError('SPECS_INVALID', `cannot import from "${path}": ${why}`);
}

/** @throws FlagkeelError `SPECS_INVALID`: it is not YAML, or uses what is not read. */
export function foreignYaml({ path, text }: SourceFile): ForeignNode {
  const parsed = parseForeignYaml(text);
  if (parsed.ok) return parsed.root;
  throw notOfTool(path, `line ${parsed.line}: ${parsed.message}`);
}

/** A text as JSON where it is JSON, otherwise itself. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

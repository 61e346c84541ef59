import { FlagkeelError, type ErrorCode } from '../../errors.js';
import { keptIn } from '../../model/collections.js';
import type { Definition } from '../../model/flag/flag.js';
import { parseForeignYaml, type ForeignNode } from '../../specs/parse/yaml-file.js';
import type { FlagToWrite } from '../flag-files.js';
import type { SegmentToWrite } from '../segment-files.js';
import type { EnvironmentToWrite, RepositoryToWrite } from '../workspace-files.js';

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export interface SourceOptions {
  /** Which workspace, where the file has several. */
  readonly workspace?: string | undefined;
  readonly environments: readonly string[];
  /** For flags and segments whose traffic type the file does not give. */
  readonly trafficType: string;
}

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

type Named<T> = Partial<Omit<T, 'environments'>> & { readonly name: string };
type Open<T, Part> = Omit<T, 'environments'> & { readonly environments: Map<string, Part> };
type OpenFlag = Open<FlagToWrite, Required<Definition>>;
type OpenSegment = Open<SegmentToWrite, readonly string[] | null>;

/** What was converted so far. Whatever is named again keeps its first settings. */
export class Conversion {
  readonly trafficType: string;
  readonly #path: string;
  readonly #workspace: string | undefined;
  readonly #departures: Departure[] = [];
  readonly #environments = new Map<string, EnvironmentToWrite>();
  readonly #flags = new Map<string, OpenFlag>();
  readonly #segments = new Map<string, OpenSegment>();

  constructor({ path }: SourceFile, { trafficType, workspace }: SourceOptions) {
    this.#path = path;
    this.#workspace = workspace;
    this.trafficType = trafficType;
  }

  readonly depart = (place: ForeignNode | string, what: string): void => {
    const text = typeof place === 'string' ? place : `${this.#path}:${place.line}`;
    this.#departures.push({ place: text, what });
  };

  addEnvironment(name: string, isProtected = false): void {
    const environment = { name, protected: isProtected };
    if (!this.#environments.has(name)) this.#environments.set(name, environment);
  }

  flag(flag: Named<FlagToWrite>): OpenFlag['environments'] {
    const { trafficType } = this;
    return keptIn<string, OpenFlag>(this.#flags, flag.name, () => {
      return { trafficType, fields: {}, ...flag, environments: new Map() };
    }).environments;
  }

  segment(segment: Named<SegmentToWrite>): OpenSegment['environments'] {
    const { trafficType } = this;
    return keptIn<string, OpenSegment>(this.#segments, segment.name, () => {
      return { trafficType, description: '', ...segment, environments: new Map() };
    }).environments;
  }

  hasFlag(name: string): boolean {
    return this.#flags.has(name);
  }

  hasSegment(name: string): boolean {
    return this.#segments.has(name);
  }

  /** @param own name of the workspace in the file. */
  result(own?: string): Converted {
    return {
      workspace: this.#workspace ?? own,
      environments: [...this.#environments.values()],
      flags: [...this.#flags.values()],
      segments: [...this.#segments.values()],
      departures: this.#departures,
    };
  }
}

export function cannotImport(code: ErrorCode, path: string, why: string): FlagkeelError {
  return new FlagkeelError(code, `cannot import from "${path}": ${why}`);
}

/** @throws FlagkeelError `SPECS_INVALID` if the text is not YAML, or uses unsupported features. */
export function foreignYaml({ path, text }: SourceFile): ForeignNode {
  return parseForeignYaml(text, (line, why) =>
    cannotImport('SPECS_INVALID', path, `line ${line}: ${why}`),
  );
}

export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export const KINDS = ['flag', 'segment', 'identities'] as const;

export type Kind = (typeof KINDS)[number];

export function byKind<T>(valueOf: (kind: Kind) => T): Readonly<Record<Kind, T>> {
  return Object.fromEntries(KINDS.map((kind) => [kind, valueOf(kind)])) as Record<Kind, T>;
}

/** The product's guide has this rule for flags, and the reserved words of treatments; the contract has none. */
export const FLAG_NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;
/** Where no rule is known: only what a path or a file name could not hold is excluded. */
export const TREATMENT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/**
 * Kinds whose objects have a file each, `FOLDER/NAME.yaml`, which names its object in the member of the kind. The words
 * with a hyphen are codes of diagnostics.
 */
export const NAMED_KINDS = {
  flag: {
    folder: 'flags',
    pattern: FLAG_NAME,
    form: "a name is a letter, then letters, digits, '-' and '_'",
    reserved: new Set(['datetime', 'string', 'set', 'integer']),
    wrongName: 'flag-name',
    twice: 'duplicate-flag',
  },
  segment: {
    folder: 'segments',
    pattern: TREATMENT_NAME,
    form: "a name has letters, digits, '-', '_' and '.' only",
    reserved: new Set<string>(),
    wrongName: 'segment-name',
    twice: 'duplicate-segment',
  },
} as const;

export type NamedKind = keyof typeof NAMED_KINDS;

export const NAMED = Object.keys(NAMED_KINDS) as readonly NamedKind[];

/** Kinds of files with a schema of the same name. */
export const SPEC_KINDS = [
  'config',
  'flag',
  'flag-overlay',
  'segment',
  'identities',
  'kills',
  'spec-test',
] as const;

export type SpecKind = (typeof SPEC_KINDS)[number];

/** The last two are lists of keys. */
export const FILE_KINDS = [...SPEC_KINDS, 'keys', 'identities-csv'] as const;

export type FileKind = (typeof FILE_KINDS)[number];

interface SpecFolder {
  readonly folder: string;
  /** The files that are read, by their path below the folder. The first that fits counts. */
  readonly files: Readonly<Partial<Record<FileKind, RegExp>>>;
  /** Names of other folders that are probably meant as this one. */
  readonly nearly: RegExp;
  /** A file elsewhere is probably meant for this folder if its text has all of these. */
  readonly marks: readonly RegExp[];
  readonly advice: string;
}

export type FolderKind = Kind | 'kills' | 'spec-test';

export const SPEC_FOLDERS: Readonly<Record<FolderKind, SpecFolder>> = {
  flag: {
    folder: NAMED_KINDS.flag.folder,
    files: { 'flag-overlay': /@[^/@]*\.yaml$/, flag: /\.yaml$/ },
    nearly: /^flags?$/i,
    marks: [/^flag:/m, /^(?:treatments|environment):/m],
    advice: 'flags lie in flags/',
  },
  segment: {
    folder: NAMED_KINDS.segment.folder,
    files: { keys: /\.keys$/, segment: /\.yaml$/ },
    nearly: /^segments?$/i,
    marks: [/^segment:/m],
    advice: 'segments lie in segments/',
  },
  identities: {
    folder: 'identities',
    files: { 'identities-csv': /\.csv$/, identities: /\.yaml$/ },
    nearly: /^identit(?:y|ies)$/i,
    marks: [/^identities:/m],
    advice: 'identities lie in identities/',
  },
  kills: {
    folder: 'kills',
    files: { kills: /^[^/]*\.yaml$/ },
    nearly: /^kills?$/i,
    marks: [/^kills:/m],
    advice: 'kills stand in kills/<environment>.yaml',
  },
  'spec-test': {
    folder: 'tests',
    files: { 'spec-test': /\.test\.yaml$/ },
    nearly: /^tests?$/i,
    marks: [/^tests:/m, /^cases:/m],
    advice: 'spec tests lie in tests/ and end in .test.yaml',
  },
};

/** The unit of comparison and change: an object at workspace level, or its part in one environment. */
export interface ObjectRef {
  readonly kind: Kind;
  readonly name: string;
  /** Name of the environment on the service, which may differ from its name in the config. */
  readonly environment: string | null;
}

/** `KIND/NAME`. */
export type ObjectKey = string;

/** `KIND/NAME` or `KIND/NAME@ENVIRONMENT`. */
export type ObjectId = string;

export function keyOf(kind: Kind, name: string): ObjectKey {
  return `${kind}/${name}`;
}

export function objectId({ kind, name, environment }: ObjectRef): ObjectId {
  const key = keyOf(kind, name);
  return environment === null ? key : `${key}@${environment}`;
}

export function definitionId(at: {
  readonly flag: string;
  readonly environment: string;
}): ObjectId {
  return objectId({ kind: 'flag', name: at.flag, environment: at.environment });
}

/** Undefined for an unknown kind. For an id the environment stays a part of the name: see `keyOfId`. */
export function parseKey(
  key: ObjectKey,
): { readonly kind: Kind; readonly name: string } | undefined {
  const slash = key.indexOf('/');
  const kind = KINDS.find((each) => each === key.slice(0, slash));
  return slash === -1 || kind === undefined ? undefined : { kind, name: key.slice(slash + 1) };
}

export function keyOfId(id: ObjectId): ObjectKey {
  return id.split('@', 1)[0] ?? id;
}

/** @param keys of objects, or of all objects of a kind: `flag/*`. */
export function isAmong(keys: ReadonlySet<ObjectKey>, id: ObjectId): boolean {
  const key = keyOfId(id);
  return keys.has(key) || keys.has(key.replace(/\/.*/s, '/*'));
}

export function refOfId(id: ObjectId): ObjectRef | undefined {
  const object = parseKey(keyOfId(id));
  const at = id.indexOf('@');
  return object && { ...object, environment: at === -1 ? null : id.slice(at + 1) };
}

/** The product's editor refuses these names, and those that do not have the form of a flag's. */
export const RESERVED_TREATMENT_NAMES: ReadonlySet<string> = new Set(
  (
    'all and between contain contains control datetime does end ends false has have if in is match matches not ' +
    'number set split start starts string then treatment true with'
  ).split(' '),
);

export const TREATMENT_COUNT = { least: 2, most: 20 } as const;

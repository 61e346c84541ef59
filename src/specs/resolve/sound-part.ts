import type { SpecTypes } from '../../generated/spec-types.d.js';
import type { DesiredSegment } from '../../model/desired.js';
import type { Diagnostic, Location } from '../../model/diagnostic.js';
import { partsOf, valueAt } from '../../model/json.js';
import { NAMED_KINDS, type SpecKind } from '../../model/ref.js';
import { fileKindOf, folderKindOf } from '../../model/spec-tree.js';
import type { DiagnosticCode } from '../codes.js';
import type { SpecFile } from '../parse/parse-file.js';
import { schemaErrors } from '../parse/schema-problems.js';
import { referenceDiagnostics } from './references.js';
import { resolvedFlag, type ResolvedFlag } from './flags.js';
import { resolveSegments } from './segments.js';
import {
  environmentDiagnostics,
  fileNameOf,
  specTestDiagnostics,
  type SpecOf,
  type SpecSet,
} from './spec-set.js';

/** Further mistakes in files that violate their schemas: one wrong field should not hide the others. */
export function departedDiagnostics(
  specs: SpecSet,
  flags: readonly ResolvedFlag[],
  segments: ReadonlyMap<string, DesiredSegment>,
): Diagnostic[] {
  const parts = <K extends SpecKind>(kind: K): SoundPart<SpecTypes[K]>[] =>
    specs.loaded.files[kind].flatMap((file) => soundPart(kind, file) ?? []);
  const flagParts = parts('flag');
  const overlayParts = parts('flag-overlay');
  const segmentParts = parts('segment');
  const testParts = parts('spec-test');
  const all = [...flagParts, ...overlayParts, ...segmentParts, ...testParts];
  if (all.length === 0) return [];
  const overlays = [...specs.overlays, ...overlayParts];
  const withOverlays = [...new Set(overlayParts.map(({ spec }) => spec.flag))];
  const departed = [
    ...flagParts,
    ...withOverlays.flatMap((name) => specs.named.flag.get(name) ?? []),
  ].map((each) => {
    const own = overlays.filter(({ spec }) => spec.flag === each.spec.flag);
    return resolvedFlag(specs, each, own);
  });
  const known = departed.map(({ flag }) => flag);
  const ownSegments = new Map(segmentParts.map((each) => [each.spec.segment, each]));
  const found = [
    ...departed.flatMap(({ diagnostics }) => diagnostics),
    ...referenceDiagnostics(specs, [...known, ...flags], segments),
    ...overlayParts.flatMap(({ file, spec }) =>
      environmentDiagnostics(specs, { file, path: ['environment'] }, spec.environment),
    ),
    ...specTestDiagnostics(specs, testParts),
  ];
  resolveSegments({ ...specs, named: { ...specs.named, segment: ownSegments } }, found);
  return all.flatMap((part) =>
    found.filter((each) => each.location.file === part.file.path && !part.isEcho(each)),
  );
}

/** The part of a file that can be checked although another part violates the schema. */
interface SoundPart<T> extends SpecOf<T> {
  /** Whether a mistake only repeats a violation that was reported already. */
  isEcho(diagnostic: Diagnostic): boolean;
}

type Path = readonly string[];

type Container = Record<string, unknown>;

/** Mistakes about missing parts, which may exist under a misspelt name. */
const ABSENCES: ReadonlySet<string> = new Set<DiagnosticCode>([
  'missing-default-rule',
  'traffic-type-missing',
]);

/** Mistakes about the treatments of a flag, which are uncertain if one of them was left out. */
const ABOUT_TREATMENTS: ReadonlySet<string> = new Set<DiagnosticCode>([
  'treatment-count',
  'unknown-treatment',
]);

/** Stands in for a wrong condition: well-formed, without a reference. */
const CONDITION = { in: ['-'] };
/** Stands in for a wrong case of a spec test. */
const CASE = { name: '-', environment: '-', expect: '-' };

/**
 * The part of a file that fits its schema, only for diagnostics: wrong values are left out or, if required, replaced;
 * positions in lists stay. @returns undefined if the file is valid, is not YAML, or lacks too much.
 */
function soundPart<K extends SpecKind>(
  kind: K,
  file: SpecFile,
): SoundPart<SpecTypes[K]> | undefined {
  const { value, problems, valid } = file;
  const departures = problems.filter(({ code }) => code !== 'api-key-in-file');
  if (valid || departures.some(({ pointer }) => pointer === undefined)) return undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const spec = structuredClone(value) as Container;
  const holes = departures.map(({ pointer = '' }) => {
    const path = partsOf(pointer);
    const hole = holeAround(spec, path);
    mend(spec, hole, file);
    return hole;
  });
  if (schemaErrors(kind, spec).length > 0) return undefined;
  // A rule with a missing member has no hole: the rest of the rule is checked.
  const wrong = holes.filter((hole) => hole.length > 0 && hole.at(-2) !== 'rules');
  const spans = wrong.map((hole) => spanOf(file, hole));
  const outside = holes.some((hole) => !hole.includes('rules'));
  const amongTreatments = holes.some((hole) => hole.slice(-2).includes('treatments'));
  return {
    file,
    spec: spec as unknown as SpecTypes[K],
    isEcho: ({ code, location }) =>
      location.file === file.path &&
      ((outside && ABSENCES.has(code)) ||
        (amongTreatments && ABOUT_TREATMENTS.has(code)) ||
        spans.some(({ from, to }) => !isBefore(location, from) && isBefore(location, to))),
  };
}

/** Conditions, buckets and cases of a test are wrong as a whole: a part of one would mean something else. */
function holeAround(spec: Container, path: Path): Path {
  const rules = path.indexOf('rules');
  if (rules !== -1 && path[rules + 2] === 'if') {
    const conditions = path.slice(0, rules + 3);
    return Array.isArray(valueAt(spec, conditions)) ? path.slice(0, rules + 4) : conditions;
  }
  if (rules !== -1 && path[rules + 2] === 'serve') return path.slice(0, rules + 3);
  if (path[0] === 'cases') return path.slice(0, 2);
  const buckets = path.indexOf('defaultRule');
  const isOfBlock = buckets === 0 || (buckets === 2 && path[0] === 'environments');
  return isOfBlock ? path.slice(0, buckets + 1) : path;
}

function mend(spec: Container, hole: Path, file: SpecFile): void {
  const name = hole.at(-1);
  if (name === undefined) {
    mendRoot(spec, file);
    return;
  }
  const parent = valueAt(spec, hole.slice(0, -1));
  if (typeof parent !== 'object' || parent === null) return;
  const members = parent as Container;
  if (hole.at(-2) === 'rules') {
    const rule = members[name];
    const serve = spec['defaultTreatment'] ?? '-';
    members[name] = { if: CONDITION, serve, ...(typeof rule === 'object' && rule) };
  } else if (name === 'if' || hole.at(-2) === 'if') members[name] = CONDITION;
  else if (name === 'serve' || name === 'defaultRule') members[name] = '-';
  else if (hole.length === 2 && hole[0] === 'cases') members[name] = CASE;
  else if (Array.isArray(parent)) members[name] = `element ${name}`;
  else Reflect.deleteProperty(members, name);
}

function mendRoot(spec: Container, file: SpecFile): void {
  const kind = folderKindOf(file.path);
  if (kind !== undefined && kind in NAMED_KINDS) spec[kind] ??= fileNameOf(file.path);
  if (fileKindOf(file.path) === 'flag') spec['defaultTreatment'] ??= file.keys('treatments')[0];
}

/** The place of a member: from its key to the end of its value. */
function spanOf(file: SpecFile, hole: Path): { from: Location; to: Location } {
  const { key, value = { from: 0, to: 1 } } = file.place(hole) ?? {};
  const { from } = key ?? value;
  const locationOf = (offset: number): Location => file.source.location(file.path, offset);
  return { from: locationOf(from), to: locationOf(Math.max(value.to, from + 1)) };
}

function isBefore(a: Location, b: Location): boolean {
  return a.line < b.line || (a.line === b.line && a.column < b.column);
}

import { grouped, Memory } from '../../model/collections.js';
import type { ConditionSpec } from '../../generated/flag.schema.d.js';
import type { DesiredSegment } from '../../model/desired.js';
import type { Matcher } from '../../model/flag/flag.js';
import { dependencyOf, segmentOf } from '../../model/matcher/canonical.js';
import type { NamedConditions } from '../../model/matcher/condition.js';
import type { Diagnostic, Location, SpecPath } from '../../model/diagnostic.js';
import { NAMED_KINDS } from '../../model/ref.js';
import type { DiagnosticCode } from '../codes.js';
import { placed } from './conditions.js';
import type { ResolvedFlag } from './flags.js';
import type { SpecSet } from './spec-set.js';
import { didYouMean } from '../parse/suggest.js';
import type { SpecFile } from '../parse/parse-file.js';

/** A name in a rule, and the rule. The exact place in the file is computed only for a diagnostic. */
export interface Reference {
  readonly kind: 'segment' | 'flag';
  readonly name: string;
  /** Treatments that the rule expects the other flag to have. */
  readonly treatments: readonly string[];
  readonly from: ResolvedFlag;
  readonly environment: string;
  /** Position of the rule, from 0. */
  readonly rule: number;
  /** Members that lead from the `if` of the rule to the condition. */
  readonly path: SpecPath;
  /** Members that lead from the condition to the names in it; `treatments` is null if they come from elsewhere. */
  readonly members: {
    readonly name: readonly string[];
    readonly treatments: readonly string[] | null;
  };
}

interface DeclaredNames {
  readonly specs: SpecSet;
  readonly flags: ReadonlyMap<string, ResolvedFlag>;
  readonly segments: ReadonlyMap<string, DesiredSegment>;
}

/** Checks every object that a rule names: it exists in the same environment and fits, and no flag depends on itself. */
export function referenceDiagnostics(
  specs: SpecSet,
  resolved: readonly ResolvedFlag[],
  segments: ReadonlyMap<string, DesiredSegment>,
): Diagnostic[] {
  const known: DeclaredNames = {
    specs,
    segments,
    flags: new Map(resolved.map((each) => [each.name, each])),
  };
  const references = resolved.flatMap(referencesOf);
  return [
    ...references.flatMap((each) => nameDiagnostics(known, each)),
    ...cycleDiagnostics(references),
  ];
}

const REFERENCES = new Memory<ResolvedFlag, readonly Reference[]>();

export function referencesOf(from: ResolvedFlag): readonly Reference[] {
  return REFERENCES.of(from, [], () => allReferences(from));
}

function allReferences(from: ResolvedFlag): Reference[] {
  return [...from.environments].flatMap(([environment, { rules }]) => {
    if (rules === undefined) return [];
    return rules.value.flatMap(({ if: written }, rule) =>
      placed(written).flatMap(({ condition, path }) =>
        // Spelled out: spreading would give each copy a hidden class of its own, for ten thousand flags.
        allNamedIn(condition, rules.named).map(({ kind, name, treatments, members }) => {
          return { kind, name, treatments, members, from, environment, rule, path };
        }),
      ),
    );
  });
}

function allNamedIn(condition: ConditionSpec, named: NamedConditions | undefined): Named[] {
  const { use } = condition;
  if (use !== undefined) return (named?.get(use) ?? []).flatMap(usedIn);
  const own = namedIn(condition);
  return own === undefined ? [] : [own];
}

/** References of a matcher from a named condition; the file has no place of its own for them. */
function usedIn(matcher: Matcher): Named[] {
  const segment = segmentOf(matcher);
  const dependency = dependencyOf(matcher);
  if (segment !== undefined) {
    return [{ kind: 'segment', name: segment, treatments: NO_TREATMENTS, members: USED }];
  }
  if (dependency === undefined) return [];
  const { flag, treatments } = dependency;
  return [{ kind: 'flag', name: flag, treatments, members: USED }];
}

/** Where a condition has the name; the raw forms are matchers that a spec writes as the service has them. */
const SEGMENT = { name: ['segment'], treatments: [] };
const FLAG = { name: ['flag'], treatments: ['treatments'] };
const RAW_SEGMENT = { name: ['matcher', 'string'], treatments: [] };
const RAW_FLAG = { name: ['matcher', 'depends', 'splitName'], treatments: ['matcher', 'depends'] };
const USED = { name: ['use'], treatments: null };
const NO_TREATMENTS: readonly string[] = [];

type Named = Pick<Reference, 'kind' | 'name' | 'treatments' | 'members'>;

export function namedIn({ segment, flag, treatments, matcher }: ConditionSpec): Named | undefined {
  if (segment !== undefined) {
    return { kind: 'segment', name: segment, treatments: NO_TREATMENTS, members: SEGMENT };
  }
  if (flag !== undefined) {
    return { kind: 'flag', name: flag, treatments: treatments ?? NO_TREATMENTS, members: FLAG };
  }
  const { string, depends } = (matcher ?? {}) as { string?: unknown; depends?: unknown };
  if (matcher?.type === 'IN_SEGMENT' && typeof string === 'string') {
    return { kind: 'segment', name: string, treatments: NO_TREATMENTS, members: RAW_SEGMENT };
  }
  const name = (depends as { splitName?: unknown } | null | undefined)?.splitName;
  if (matcher?.type !== 'IN_SPLIT' || typeof name !== 'string') return undefined;
  return { kind: 'flag', name, treatments: NO_TREATMENTS, members: RAW_FLAG };
}

const CODES = {
  flag: { unknown: 'unknown-flag', elsewhere: 'flag-not-in-environment' },
  segment: { unknown: 'unknown-segment', elsewhere: 'segment-not-in-environment' },
} as const;

/**
 * Checks that a name in a rule is declared, fits, and is declared for the rule's environment. Names under `references`
 * in flagkeel.yaml are managed elsewhere and always pass.
 */
function nameDiagnostics(known: DeclaredNames, reference: Reference): Diagnostic[] {
  const { specs } = known;
  const { kind, name, environment } = reference;
  const { folder } = NAMED_KINDS[kind];
  const elsewhere = specs.config?.references[folder] ?? [];
  if (elsewhere.includes(name) || specs.unjudged[kind].has(name)) return [];
  const declared = known[folder].get(name);
  if (declared === undefined) {
    if (specs.config === undefined) return [];
    const hint = didYouMean(name, [...known[folder].keys(), ...elsewhere]);
    const message = `no ${kind} "${name}" is declared here or in references${hint}`;
    return [at(reference, CODES[kind].unknown, message)];
  }
  const misfits = MISFITS[kind](known, reference);
  if (misfits.length > 0 || declared.environments.has(environment)) return misfits;
  const message = `${kind} "${name}" is not declared for environment "${environment}"`;
  return [at(reference, CODES[kind].elsewhere, message)];
}

const MISFITS: Readonly<
  Record<Reference['kind'], (known: DeclaredNames, reference: Reference) => Diagnostic[]>
> = {
  segment: ({ segments }, reference) => {
    const keys = segments.get(reference.name)?.trafficType ?? '';
    const { trafficType } = reference.from;
    // A file without a traffic type has its own diagnostic.
    if (keys === trafficType || keys === '' || trafficType === '') return [];
    const message = `segment "${reference.name}" holds keys of "${keys}", the flag is split by "${trafficType}"`;
    return [at(reference, 'traffic-type-mismatch', message)];
  },
  flag: ({ flags }, reference) => {
    const { name, environment, treatments, members } = reference;
    const known = flags.get(name)?.environments.get(environment)?.treatments;
    return treatments.flatMap((treatment, i) => {
      if (known === undefined || known.includes(treatment)) return [];
      const message = `flag "${name}" has no treatment "${treatment}"${didYouMean(treatment, known)}`;
      const place = members.treatments === null ? members.name : [...members.treatments, i];
      return [at(reference, 'unknown-treatment', message, place)];
    });
  },
};

/** Reports flags that depend on each other in one environment: each cycle once, with its path. */
function cycleDiagnostics(references: readonly Reference[]): Diagnostic[] {
  const reported = new Set<string>();
  const diagnostics: Diagnostic[] = [];
  const done = new Set<string>();
  const edges = grouped(
    references.filter(({ kind }) => kind === 'flag'),
    ({ from, environment }) => `${environment} ${from.name}`,
  );
  const visit = (node: string, path: readonly Reference[]): void => {
    for (const edge of edges.get(node) ?? []) {
      const walked = [...path, edge];
      const start = walked.findIndex(({ from }) => from.name === edge.name);
      const cycle = start === -1 ? [] : walked.slice(start);
      const names = cycle.map(({ from }) => from.name);
      const members = names.toSorted().join(' ');
      if (cycle.length > 0 && !reported.has(members)) {
        reported.add(members);
        const shown = [...names, edge.name].join(' → ');
        const message = `flags depend on each other in "${edge.environment}": ${shown}`;
        diagnostics.push(at(edge, 'dependency-cycle', message));
      }
      const next = `${edge.environment} ${edge.name}`;
      if (cycle.length === 0 && !done.has(next)) visit(next, walked);
    }
    done.add(node);
  };
  for (const node of edges.keys()) if (!done.has(node)) visit(node, []);
  return diagnostics;
}

/** @param to members from the condition to the wrong value. */
function at(
  reference: Reference,
  code: DiagnosticCode,
  message: string,
  to: SpecPath = reference.members.name,
): Diagnostic {
  const { file, path } = placeOf(reference, to);
  const asker = reference.members === USED ? '; the conditions of this name ask for it' : '';
  return file.diagnostic(code, { path }, `${message}${asker}`);
}

export function locationOf(reference: Reference): Location {
  const { file, path } = placeOf(reference, reference.members.name);
  return file.location(path);
}

function placeOf(
  { from, environment, rule, path: inside }: Reference,
  to: SpecPath,
): { readonly file: SpecFile; readonly path: SpecPath } {
  const { file, path } = from.environments.get(environment)?.rules ?? { file: from.file, path: [] };
  return { file, path: [...path, rule, 'if', ...inside, ...to] };
}

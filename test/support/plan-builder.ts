import { verdictOf } from '../../src/model/verdict.js';
import type { Kind, ObjectId, ObjectRef } from '../../src/model/ref.js';
import type {
  Action,
  Change,
  FieldChange,
  KeyChange,
  LiveKill,
  Plan,
  Withheld,
  WithheldWhy,
} from '../../src/model/plan.js';
import type { PlanReport } from '../../src/report/plan-report.js';
import { keyList } from '../../src/model/segment-keys.js';

/** `flag/new-checkout@production` and the like. */
export function refOf(id: ObjectId): ObjectRef {
  const [, kind, name, environment] = /^([a-z]+)\/([^@]+)(?:@(.+))?$/.exec(id) ?? [];
  return { kind: (kind ?? 'flag') as Kind, name: name ?? '', environment: environment ?? null };
}

/** A change of a commit that stands on line 1 of the object's file, unless `members` say otherwise. */
export function aChange(id: ObjectId, action: Action, members: Partial<Change> = {}): Change {
  const ref = refOf(id);
  return {
    id,
    ref,
    action,
    reason: 'commit',
    location: { file: `${ref.kind}s/${ref.name}.yaml`, line: 1, column: 1 },
    fields: [],
    dependsOn: [],
    ...members,
  };
}

export function aWithheld(
  id: ObjectId,
  action: Action,
  why: WithheldWhy,
  members: Partial<Withheld> = {},
): Withheld {
  return { ...aChange(id, action), why, ...members };
}

/** A field that a commit changed; an undefined side is left out. */
export function aField(path: string, before: unknown, after: unknown): FieldChange {
  return {
    path,
    reason: 'commit',
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
}

export function keyChange(added: readonly string[], removed: readonly string[] = []): KeyChange {
  return { added, removed, sha256: keyList(added).digest.sha256 };
}

/** `count` keys: `PREFIX-001`, `PREFIX-002`, … */
export function manyKeys(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    return `${prefix}-${String(index + 1).padStart(3, '0')}`;
  });
}

export function aPlan(members: Partial<Plan> = {}): Plan {
  return {
    changes: [],
    withheld: [],
    steps: [],
    unchanged: [],
    observed: 'full',
    unmanaged: null,
    liveKills: [],
    notCompared: [],
    ...members,
  };
}

/** A kill that no run has seen before. */
export function aLiveKill(id: ObjectId, members: Partial<LiveKill> = {}): LiveKill {
  const ref = refOf(id);
  const location = { file: `flags/${ref.name}.yaml`, line: 1, column: 1 };
  return { id, ref, location, seen: null, commit: null, ...members };
}

export const COMMIT = '3f9c2ab41d7e5f60718293a4b5c6d7e8f9012345';

export function aReport(plan: Partial<Plan> = {}, members: Partial<PlanReport> = {}): PlanReport {
  return judged({
    plan: aPlan(plan),
    notes: new Map(),
    planHash: `sha256:${'0a'.repeat(32)}`,
    origin: 'https://admin.example.com',
    workspace: { id: 'ws-1', name: 'Default' },
    revision: { commit: COMMIT, dirty: false },
    stateless: false,
    environments: ['staging', 'production'],
    protectedEnvironments: new Set(['production']),
    ...members,
  });
}

/** The report with the verdict that its other members give. */
export function judged(report: Omit<PlanReport, 'verdict'>): PlanReport {
  const {
    plan,
    planHash,
    outcomes,
    left,
    held: invalid = [],
    guardFindings: findings = [],
  } = report;
  const refusal = findings.length === 0 ? undefined : { planHash, findings, options: [] };
  return { ...report, verdict: verdictOf({ plan, outcomes, left, invalid, refusal }) };
}

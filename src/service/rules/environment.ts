import { applyPatch, type PatchOperation } from './json-patch.js';
import { closed, checkShape, checkUntouched, compileSchema, type Schema } from './shape.js';
import { checkTitleName, TITLE_NAME_SCHEMA, WORDS_MEMBERS } from './members.js';

/** What clients and seeds set. Truth values that are absent are false. */
export interface EnvironmentContent {
  readonly name: string;
  readonly production?: boolean;
  readonly approvalsRequired?: boolean;
  /** Allows kills even if changes require approvals. */
  readonly allowKills?: boolean;
}

/** Some clients send truth values as text, so `'true'` counts as `true`. */
const TRUTH: Schema = { enum: [true, false, 'true', 'false'] };

/**
 * Public documentation lets clients restrict changes to certain people. This service would not enforce that, so it
 * accepts only empty lists.
 */
const RESTRICTED_TO_NOBODY: Schema = { type: ['array', 'null'], maxItems: 0 };
const NOT_RESTRICTED: Schema = { enum: [false, 'false', null] };

const CHANGE_PERMISSIONS = closed({
  areApprovalsRequired: TRUTH,
  allowKills: TRUTH,
  areApproversRestricted: NOT_RESTRICTED,
  approvers: RESTRICTED_TO_NOBODY,
  areEditorsRestricted: NOT_RESTRICTED,
  editors: RESTRICTED_TO_NOBODY,
  approvalSkippableBy: RESTRICTED_TO_NOBODY,
});
const EXPORT_PERMISSIONS = closed({
  areExportersRestricted: NOT_RESTRICTED,
  exporters: RESTRICTED_TO_NOBODY,
});

const ENVIRONMENT_MEMBERS = {
  name: TITLE_NAME_SCHEMA,
  production: TRUTH,
  changePermissions: { ...CHANGE_PERMISSIONS, type: ['object', 'null'] },
} satisfies Readonly<Record<string, Schema>>;

export const ENVIRONMENT_SCHEMA: Schema = closed(
  {
    ...ENVIRONMENT_MEMBERS,
    dataExportPermissions: { ...EXPORT_PERMISSIONS, type: ['object', 'null'] },
    ...WORDS_MEMBERS,
  },
  ['name'],
);

interface GivenEnvironment {
  readonly name: string;
  readonly production?: unknown;
  readonly changePermissions?: {
    readonly areApprovalsRequired?: unknown;
    readonly allowKills?: unknown;
  } | null;
}

/** Everything else is false, also an absent member. */
const isTrue = (value: unknown): boolean => value === true || value === 'true';

/** @throws Problem (400) the name is not allowed. */
export function environmentFrom(given: unknown): EnvironmentContent {
  const { name, production, changePermissions } = given as GivenEnvironment;
  checkTitleName('Environment', name);
  return {
    name,
    production: isTrue(production),
    approvalsRequired: isTrue(changePermissions?.areApprovalsRequired),
    allowKills: isTrue(changePermissions?.allowKills),
  };
}

const hasEnvironmentShape = compileSchema(closed({ id: true, ...ENVIRONMENT_MEMBERS }, ['name']));

/** The members of answers that a patch sees. */
type Patchable = Readonly<Record<'id' | 'name' | 'production' | 'changePermissions', unknown>>;

/** @throws Problem (400) */
export function environmentPatched(
  { id, name, production, changePermissions }: Patchable,
  operations: readonly PatchOperation[],
): EnvironmentContent {
  const document = { id, name, production, changePermissions };
  const after = applyPatch(document, operations);
  checkShape(hasEnvironmentShape, after, 'Environment');
  checkUntouched(document, after as object, ['id']);
  return environmentFrom(after);
}

export interface WorkspaceContent {
  readonly name: string;
  readonly requiresTitleAndComments: boolean;
}

const WORKSPACE_MEMBERS = {
  name: TITLE_NAME_SCHEMA,
  requiresTitleAndComments: TRUTH,
} satisfies Readonly<Record<string, Schema>>;

export const WORKSPACE_SCHEMA: Schema = closed({ ...WORKSPACE_MEMBERS, ...WORDS_MEMBERS }, [
  'name',
]);

const hasWorkspaceShape = compileSchema(
  closed({ id: true, type: true, ...WORKSPACE_MEMBERS }, ['name']),
);

/** @throws Problem (400) the name is not allowed. */
export function workspaceFrom(given: unknown): WorkspaceContent {
  const { name, requiresTitleAndComments } = given as {
    readonly name: string;
    readonly requiresTitleAndComments?: unknown;
  };
  checkTitleName('Workspace', name);
  return { name, requiresTitleAndComments: isTrue(requiresTitleAndComments) };
}

/** @throws Problem (400) */
export function workspacePatched(
  before: WorkspaceContent & { readonly id: string; readonly type: string },
  operations: readonly PatchOperation[],
): WorkspaceContent {
  const after = applyPatch(before, operations);
  checkShape(hasWorkspaceShape, after, 'Workspace');
  checkUntouched(before, after as object, ['id', 'type']);
  return workspaceFrom(after);
}

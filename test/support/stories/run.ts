import type { AuditEntry } from '../../../src/service/store/audit.js';
import type { RunKind } from './events.js';
import type { RawState } from './raw-state.js';
import type { Written } from './written.js';

/** A run of the command as it was seen from outside. */
export interface Ran {
  readonly kind: RunKind;
  readonly isDry: boolean;
  /** The object that the run was narrowed to, as `KIND/NAME`; null: it was not. */
  readonly only: string | null;
  /** Whether the guards were passed by the hash of the plan. */
  readonly exitCode: number;
  /** Null: it printed no JSON. */
  readonly document: Document | null;
  readonly stderr: string;
  readonly before: RawState;
  readonly after: RawState;
  /** What the service recorded meanwhile, the newest first. */
  readonly recorded: readonly AuditEntry[];
  /** Position of HEAD among the commits. */
  readonly head: number;
  readonly isBroken: boolean;
  readonly written: Written;
}

/** What the stories look at in the JSON of a run. */
export interface Document {
  readonly error?: { readonly code: string; readonly message: string };
  readonly planHash: string;
  readonly converged?: boolean;
  readonly changes: readonly DocumentChange[];
  readonly withheld: readonly (DocumentChange & { readonly why: string })[];
  readonly observed: 'full' | 'touched';
  readonly unmanaged: { readonly flags: number; readonly segments: number } | null;
  readonly liveKills: readonly { readonly id: string }[];
  readonly notCompared: readonly { readonly id: string; readonly what: string }[];
  readonly guards?: readonly object[];
  readonly left?: readonly object[];
}

interface DocumentChange {
  readonly id: string;
  readonly action: 'create' | 'update' | 'delete' | 'activate' | 'deactivate';
  readonly reason: string;
  readonly fields: readonly { readonly path: string }[];
  readonly keys?: object;
  readonly outcome?: 'applied' | 'failed' | 'skipped';
  readonly error?: object;
}

/** Whether the plan says of an object that this field of it is to be written; `''`: all of it. */
export function speaksOf(change: DocumentChange, id: string, path: string): boolean {
  if (change.id !== id) return false;
  if (change.action !== 'update') return true;
  if (path === 'keys') return change.keys !== undefined;
  return change.fields.some((field) => field.path === path);
}

/** Whether it belongs to a flag that the service does not show, so that nobody knows whether it is there. */
export function isUnseen(id: string, { notCompared }: Document): boolean {
  return notCompared.some((each) => each.id === objectOf(id) && each.what === 'fields');
}

/** `KIND/NAME` of an object in any place. */
export function objectOf(id: string): string {
  return id.split('@')[0] ?? id;
}

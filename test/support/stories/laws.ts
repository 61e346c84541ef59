import { isDeepStrictEqual } from 'node:util';
import { differencesBetween, type Difference } from './comparison.js';
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
  readonly liveKills: readonly { readonly id: string; readonly comesBack?: true }[];
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

/** What a single run must not do or say; each law gives a line for every breach. */
export function breachesOf(ran: Ran): string[] {
  const { document, kind, exitCode } = ran;
  const found = [
    ...exitCodeBreaches(ran),
    ...(ran.isDry && ran.recorded.length > 0 ? ['a dry run wrote'] : []),
    ...(document && !document.error ? planBreaches(ran, document) : []),
  ];
  return found.map((each) => `${kind}, exit ${exitCode}: ${each}`);
}

function exitCodeBreaches({ exitCode, document, isBroken, recorded, kind, stderr }: Ran): string[] {
  const found: string[] = [];
  const expected = isBroken ? [3] : kind === 'dry run by exit code' ? [0, 2, 4] : [0, 4, 5, 8];
  if (!expected.includes(exitCode)) found.push(`unexpected: ${stderr}`);
  if (document === null) return [...found, 'no JSON was printed'];
  if (document.error) {
    return exitCode === 0 ? [...found, 'an error, and exit code 0'] : found;
  }
  const { converged, changes, guards, withheld } = document;
  const failed = changes.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);
  if (exitCode === 0 && failed.length > 0) found.push(`${failed.join(', ')} failed`);
  if (exitCode === 0 && converged === false) found.push('not converged');
  if ([5, 8].includes(exitCode) && converged !== false) found.push('converged');
  if (exitCode === 8 && withheld.length === 0) found.push('nothing is held');
  // Nobody could know that a flag is gone which the service does not show.
  const isExcused = failed.length > 0 && failed.every((id) => isUnseen(id, document));
  if (exitCode === 5 && !isExcused)
    found.push(`something went wrong: ${wentWrong(document)} ${stderr}`);
  if ((exitCode === 4) !== (guards !== undefined)) found.push('guards and exit code disagree');
  const pending = withheld.filter(({ why }) => why !== 'immutable').length + changes.length;
  if (kind === 'dry run by exit code' && exitCode !== 4 && (exitCode === 2) !== pending > 0) {
    found.push(`${pending} changes`);
  }
  const others = recorded.filter(({ action }) => action !== 'kill');
  if ([3, 4, 6, 7].includes(exitCode) && others.length > 0) found.push('it wrote');
  return found;
}

function wentWrong({ changes, left }: Document): string {
  const errors = changes.flatMap(({ id, error }) => (error ? [{ id, ...error }] : []));
  return JSON.stringify({ errors, left });
}

function planBreaches(ran: Ran, document: Document): string[] {
  const { before, after, written, isDry, exitCode, only } = ran;
  const isSeen = ({ id }: Difference): boolean => only === null || objectOf(id) === only;
  const was = differencesBetween(written, before).filter(isSeen);
  const is = differencesBetween(written, after).filter(isSeen);
  const isPlanned = ({ id, path }: Difference): boolean =>
    document.changes.some((each) => speaksOf(each, id, path));
  const isWhole = document.observed === 'full';
  return [
    ...(isWhole
      ? was
          .filter((each) => !isPlanned(each) && !isListed(each, document))
          .map((each) => `${told(each)} differs, and the plan does not say so`)
      : []),
    ...(isWhole && !isDry && [0, 8].includes(exitCode)
      ? is
          .filter((each) => !isListed(each, document) && !isSkipped(each, document))
          .map((each) => `${told(each)} differs after it, and nothing says so`)
      : []),
    ...document.changes
      .filter(({ action }) => action === 'update')
      .flatMap(({ id, fields, keys }) => [
        ...fields.map(({ path }) => ({ id, path })),
        ...(keys ? [{ id, path: 'keys' }] : []),
      ])
      .filter(({ path }) => path !== '/baselineTreatment' && path !== '/killed')
      .filter(
        ({ id, path }) => !was.some((each) => each.id === id && ['', path].includes(each.path)),
      )
      .map((each) => `${told(each)} is planned to be written, and is equal`),
    ...(isWhole && only === null ? strangerBreaches(ran, document) : []),
    ...(isWhole && only === null ? liveKillBreaches(ran, document) : []),
  ];
}

function told({ id, path }: Difference): string {
  return path === '' ? id : `${id} ${path}`;
}

/** Whether what differs is among what the report says it leaves. */
function isListed({ id, path }: Difference, document: Document): boolean {
  const { withheld, liveKills, notCompared } = document;
  return (
    withheld.some((each) => speaksOf(each, id, path)) ||
    (path === '/killed' && liveKills.some((each) => each.id === id)) ||
    (!id.includes('@') && isUnseen(id, document)) ||
    notCompared.some(
      ({ what, ...each }) => each.id === id && (what === 'definition' || what === path),
    ) ||
    // Of what has another traffic type nothing can be made equal.
    withheld.some((each) => speaksOf(each, objectOf(id), '/trafficType'))
  );
}

/** What waits for something that is withheld is left as it is, and said to be. */
function isSkipped({ id, path }: Difference, { changes }: Document): boolean {
  return changes.some((each) => each.outcome === 'skipped' && speaksOf(each, id, path));
}

/** What is there and in no file is either counted as not managed, or told of as a removal. */
function strangerBreaches({ before, written }: Ran, document: Document): string[] {
  const { unmanaged, withheld, changes } = document;
  if (unmanaged === null) return [];
  return (['flag', 'segment'] as const).flatMap((kind) => {
    const strangers = [...before.keys()].filter(
      (id) => id.startsWith(`${kind}/`) && !id.includes('@') && !written.objects.has(id),
    );
    const removed = strangers.filter((id) =>
      [...withheld, ...changes].some((each) => objectOf(each.id) === id),
    );
    const counted = unmanaged[`${kind}s`];
    const expected = strangers.length - removed.length;
    return counted === expected
      ? []
      : [`${counted} ${kind}s are called unmanaged, and it is ${strangers.join(', ')}`];
  });
}

/** Nothing is called a live kill that is none; what comes back killed was not there. */
function liveKillBreaches({ before, after, written }: Ran, { liveKills }: Document): string[] {
  const isKilled = (id: string): boolean =>
    [before, after].some((state) => state.get(id)?.get('/killed') === true);
  return liveKills
    .filter(
      ({ id, comesBack }) => !(comesBack ? !before.has(id) : isKilled(id)) || written.kills.has(id),
    )
    .map(({ id }) => `${id} is called a live kill, and is none`);
}

/** Fields of what is there that a run changed. */
export function changedFields({ before, after }: Ran): Difference[] {
  return [...before].flatMap(([id, fields]) => {
    const now = after.get(id);
    if (!now) return [];
    const paths = new Set([...fields.keys(), ...now.keys()]);
    return [...paths]
      .filter((path) => !isDeepStrictEqual(fields.get(path), now.get(path)))
      .map((path) => ({ id, path }));
  });
}

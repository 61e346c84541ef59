import { requestText } from '../../model/change-request.js';
import { objectId } from '../../model/ref.js';
import type { Definition } from '../../model/flag/flag.js';
import type { LoggedChange, LoggedKeys, LoggedWrite } from '../../model/outcome.js';
import type { ActivationBase, Base, IdentitiesBase, State, StateEntry } from '../../model/state.js';
import { byCodeUnits } from '../../model/json.js';
import { clean } from '../sanitize.js';
import { valueText } from '../values.js';

interface StateRow {
  /** `KIND/NAME` or `KIND/NAME@ENVIRONMENT`; with the environment's id if its name is unknown. */
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly environment: string | null;
  readonly commit: string | null;
  /** False until a run has found the object equal for the first time. */
  readonly hasBase: boolean;
  readonly pending: 'create' | 'delete' | null;
  readonly liveKillSeenAt: string | null;
  /** The change request that brings it, or that was rejected, in words; null if there is none. */
  readonly request: string | null;
}

export interface HistoryRow {
  readonly time: string;
  readonly head: string | null;
  readonly subject: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly changes: readonly (Omit<LoggedChange, 'written'> & Partial<LoggedWrite>)[];
  readonly more: number;
}

const SHORT = 8;
const PENDING = { create: 'creation begun', delete: 'deletion held back' } as const;

/** In the code-unit order of ids, so that an object's own row comes before those of its environments. */
export function stateRows(
  state: State,
  names: Readonly<Record<string, string>>,
): readonly StateRow[] {
  return [...state.values()]
    .flatMap(({ kind, name, workspace, environments }) => {
      const places: [string | null, Base<unknown>][] = workspace ? [[null, workspace]] : [];
      for (const [id, base] of Object.entries<Base<unknown>>(environments)) {
        places.push([names[id] ?? id, base]);
      }
      return places.map(([environment, base]): StateRow => ({
        id: objectId({ kind, name, environment }),
        kind,
        name,
        environment,
        commit: base.commit,
        hasBase: base.spec !== undefined,
        pending: base.pending ?? null,
        liveKillSeenAt: base.liveKillSeenAt ?? null,
        request: base.request ? requestText(base.request) : null,
      }));
    })
    .sort((a, b) => byCodeUnits(a.id, b.id));
}

type ShownEntry = Omit<StateEntry, 'environments'> & {
  readonly environments: Readonly<Record<string, object>>;
};

/** Without `showKeys` the keys of identities are counted and not named. */
export function shownEntry(entry: StateEntry, { showKeys }: { showKeys: boolean }): ShownEntry {
  if (showKeys) return entry;
  const bases = Object.entries<Base<Definition | ActivationBase | IdentitiesBase>>(
    entry.environments,
  );
  const environments = bases.map(([id, base]) => {
    const spec = base.spec && 'groups' in base.spec ? base.spec : undefined;
    const groups = spec?.groups.map(({ attributes, keys }) => {
      return { attributes, keys: { count: Object.keys(keys).length } };
    });
    return [id, { ...base, ...(groups && { spec: { groups } }) }] as const;
  });
  return { ...entry, environments: Object.fromEntries(environments) };
}

export function stateText(rows: readonly StateRow[]): string {
  if (rows.length === 0) return 'Nothing is remembered.\n';
  const width = Math.max(...rows.map(({ id }) => clean(id).length));
  const lines = rows.map((row) => {
    const commit = row.commit?.slice(0, SHORT) ?? '-';
    return [clean(row.id).padEnd(width), commit.padEnd(SHORT), marks(row)].join('  ').trimEnd();
  });
  return `${lines.join('\n')}\n`;
}

function marks({ pending, hasBase, liveKillSeenAt, request }: StateRow): string {
  return [
    ...(pending === null ? [] : [PENDING[pending]]),
    ...(request === null ? [] : [clean(request)]),
    ...(hasBase ? [] : ['never found equal']),
    ...(liveKillSeenAt === null ? [] : [`live kill seen at ${liveKillSeenAt.slice(0, SHORT)}`]),
  ].join(', ');
}

const VALUE_COLUMNS = 60;

/** @param isDetailed adds the values that were written, and the comments. */
export function historyText(
  rows: readonly HistoryRow[],
  { isDetailed }: { readonly isDetailed: boolean },
): string {
  if (rows.length === 0) return 'Nothing was written.\n';
  return rows
    .map(({ time, head, subject, changes, more }) => {
      const revision = head === null ? '' : ` ${head.slice(0, SHORT)}`;
      const lines = changes.map(
        ({ outcome, action, id, title, ...written }) =>
          `    ${clean(outcome)} ${clean(action)} ${clean(id)}${title === '' ? '' : `: ${clean(title)}`}\n` +
          (isDetailed ? writtenLines(written) : []).map((line) => `        ${line}\n`).join(''),
      );
      const rest = more > 0 ? `    and ${more} more\n` : '';
      return `${time}${revision}  ${clean(subject)}\n${lines.join('')}${rest}`;
    })
    .join('');
}

function writtenLines({ comment = '', fields = [], keys }: Partial<LoggedWrite>): string[] {
  return [
    ...fields.map(({ path, before, after, keys: targets }) => {
      const sides = [before, after].map((side) => valueText(side, VALUE_COLUMNS));
      return `${clean(path)}: ${targets ? keyNumbers(targets) : sides.join(' → ')}`;
    }),
    ...(keys ? [keyNumbers(keys)] : []),
    ...comment
      .split('\n')
      .filter((line) => line !== '')
      .map(clean),
  ];
}

function keyNumbers({ added, removed, changed }: LoggedKeys): string {
  const others = changed === undefined ? '' : `, ${String(changed)} changed`;
  return `+${String(added)} −${String(removed)} keys${others}`;
}

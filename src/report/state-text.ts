import type { Base, State, StateEntry } from '../model/state.js';
import { byCodeUnits } from '../kinds/json.js';
import { clean } from './clean.js';

/** What is remembered of one object in one place, without its spec. */
export interface StateRow {
  /** `KIND/NAME` or `KIND/NAME@ENVIRONMENT`; the environment's id where its name is not known. */
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly environment: string | null;
  /** The commit that the base came from. */
  readonly commit: string | null;
  /** False: never found equal yet. */
  readonly hasBase: boolean;
  readonly pending: 'create' | 'delete' | null;
  readonly liveKillSeenAt: string | null;
}

/** One line of `history`. */
export interface HistoryRow {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly head: string | null;
  readonly subject: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly changes: readonly {
    readonly outcome: string;
    readonly action: string;
    readonly id: string;
    readonly title: string;
  }[];
  readonly more: number;
}

/** Environment, and what is remembered there. */
type Place = readonly [string | null, Base<unknown>];

const SHORT = 8;
const PENDING = { create: 'creation begun', delete: 'deletion held back' } as const;

/**
 * The inventory, by id, with the workspace level first.
 *
 * @param names environment id → name.
 */
export function stateRows(
  state: State,
  names: Readonly<Record<string, string>>,
): readonly StateRow[] {
  return [...state.values()]
    .flatMap(({ kind, name, workspace, environments }) => {
      const places = Object.entries<Base<unknown>>(environments).map(([id, base]): Place => [
        names[id] ?? id,
        base,
      ]);
      const whole: Place[] = workspace ? [[null, workspace]] : [];
      return [...whole, ...places].map(([environment, base]): StateRow => ({
        id: environment === null ? `${kind}/${name}` : `${kind}/${name}@${environment}`,
        kind,
        name,
        environment,
        commit: base.commit,
        hasBase: base.spec !== undefined,
        pending: base.pending ?? null,
        liveKillSeenAt: base.liveKillSeenAt ?? null,
      }));
    })
    .sort((a, b) => byCodeUnits(a.id, b.id));
}

type ShownEntry = Omit<StateEntry, 'environments'> & {
  readonly environments: Readonly<Record<string, object>>;
};

/** An entry as it is shown: without `showKeys` the keys of identities are counted. */
export function shownEntry(entry: StateEntry, { showKeys }: { showKeys: boolean }): ShownEntry {
  if (entry.kind !== 'identities' || showKeys) return entry;
  const environments = Object.entries(entry.environments).map(([id, base]) => {
    const groups = base.spec?.groups.map(({ attributes, keys }) => {
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

function marks({ pending, hasBase, liveKillSeenAt }: StateRow): string {
  return [
    ...(pending === null ? [] : [PENDING[pending]]),
    ...(hasBase ? [] : ['never found equal']),
    ...(liveKillSeenAt === null ? [] : [`live kill seen at ${liveKillSeenAt.slice(0, SHORT)}`]),
  ].join(', ');
}

/** Newest first, each with its changes below it. */
export function historyText(rows: readonly HistoryRow[]): string {
  if (rows.length === 0) return 'Nothing was applied yet.\n';
  return rows
    .map(({ time, head, subject, changes, more }) => {
      const revision = head === null ? '' : ` ${head.slice(0, SHORT)}`;
      const lines = changes.map(
        ({ outcome, action, id, title }) =>
          `    ${clean(outcome)} ${clean(action)} ${clean(id)}${title === '' ? '' : `: ${clean(title)}`}\n`,
      );
      const rest = more > 0 ? `    and ${more} more\n` : '';
      return `${time}${revision}  ${clean(subject)}\n${lines.join('')}${rest}`;
    })
    .join('');
}

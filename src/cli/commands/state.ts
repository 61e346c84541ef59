import type { Command } from 'commander';
import { FlagkeelError } from '../../errors.js';
import { NOTHING } from '../../state/known-state.js';
import { clean, quoted } from '../../report/sanitize.js';
import { requestText } from '../../model/change-request.js';
import { present } from '../../model/collections.js';
import { objectId } from '../../model/ref.js';
import type { Base, State, StateEntry } from '../../model/state.js';
import { plural } from '../../report/values.js';
import type { DeclareCommand } from '../command.js';
import { commonOptions, lockOption, serviceOptions } from '../options.js';
import { askCatalog, withState, type StateOptions } from '../state-session.js';
import { ending, prettyJson, type Screen } from '../terminal.js';
import { openRun } from '../../compose/run.js';
import { StateStore } from '../../state/store.js';
import { bindEnvironments, environmentNames } from '../../model/bound-desired.js';
import { byCodeUnits, sortedSet } from '../../model/json.js';
import { planChanges } from '../../plan/plan.js';
import { stateAfterVerify } from '../../plan/bases/next-state.js';
import { observeScope } from '../../reconcile/observe.js';
import { checkNamesOnService, resolvePolicy } from '../../reconcile/policy.js';

type OnDirectory = (directory: string, options: StateOptions, screen: Screen) => Promise<void>;
type OnObject = (object: string, ...others: Parameters<OnDirectory>) => Promise<void>;

/** Without one of its subcommands, `flagkeel state` prints its help, and exits with 64. */
export const declareState: DeclareCommand = (state, invocation) => {
  /** All subcommands have the same options, though those that only read wait for no lock. */
  const add = (name: string, description: string): Command =>
    commonOptions(serviceOptions(lockOption(state.command(name).description(description))));
  const inDirectory = (command: Command, run: OnDirectory): void => {
    command.argument('[directory]', 'config repository', '.').action(ending(run, invocation));
  };
  const ofObject = (command: Command, run: OnObject): void => {
    command
      .argument('<object>', 'KIND/NAME, for example flag/new-checkout')
      .argument('[directory]', 'config repository', '.')
      .action(ending(run, invocation));
  };
  inDirectory(add('list', 'the objects that are ours, with the commit of each base'), listState);
  ofObject(add('show', 'the bases of one object, as JSON'), showObject);
  ofObject(add('rm', 'forget one object, which stays on the service as it is'), forgetObject);
  inDirectory(
    add('rebuild', 'remember anew what is equal to HEAD; writes nothing to the service'),
    rebuildState,
  );
  inDirectory(add('unlock', 'free the lock of a shared state whose holder is gone'), unlockState);
};

const listState: OnDirectory = async (directory, options, screen) =>
  withState(directory, options, screen, async (home) => {
    const { state, environments } = (await home?.read()) ?? NOTHING;
    const rows = stateRows(state, environments);
    await screen.print({ ref: home?.ref ?? null, objects: rows }, () => stateText(rows));
  });

const SHORT = 8;
const PENDING = { create: 'creation begun', delete: 'deletion held back' } as const;

/** In the code-unit order of ids. An environment whose name is unknown has its id. */
function stateRows(state: State, names: Readonly<Record<string, string>>) {
  return [...state.values()]
    .flatMap(({ kind, name, workspace, environments }) => {
      const places: [string | null, Base<unknown>][] = workspace ? [[null, workspace]] : [];
      for (const [id, base] of Object.entries<Base<unknown>>(environments)) {
        places.push([names[id] ?? id, base]);
      }
      return places.map(([environment, base]) => ({
        id: objectId({ kind, name, environment }),
        kind,
        name,
        environment,
        commit: base.commit,
        // False until a run has found the object equal for the first time.
        hasBase: base.spec !== undefined,
        pending: base.pending ?? null,
        liveKillSeenAt: base.liveKillSeenAt ?? null,
        request: base.request ? requestText(base.request) : null,
      }));
    })
    .sort((a, b) => byCodeUnits(a.id, b.id));
}

type StateRow = ReturnType<typeof stateRows>[number];

function stateText(rows: readonly StateRow[]): string {
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

const showObject: OnObject = async (object, directory, options, screen) =>
  withState(directory, options, screen, async (home) => {
    const { state, environments: names } = (await home?.read()) ?? NOTHING;
    const entry = state.get(object);
    if (!entry) throw notThere('show', object);
    const environments = Object.entries<ShownBase>(entry.environments).map(([id, base]) => {
      const environment = names[id];
      const shown = screen.showKeys ? base : withoutKeys(base);
      return [id, { ...present({ environment }), ...shown }] as const;
    });
    await screen.result(prettyJson({ ...entry, environments: Object.fromEntries(environments) }));
  });

type ShownBase = StateEntry['environments'][string];

/** With the keys of identities counted and not named. */
function withoutKeys(base: ShownBase): object {
  if (!base.spec || !('groups' in base.spec)) return base;
  const groups = base.spec.groups.map(({ attributes, keys }) => {
    return { attributes, keys: { count: Object.keys(keys).length } };
  });
  return { ...base, spec: { groups } };
}

const forgetObject: OnObject = async (object, directory, options, screen) =>
  withState(directory, options, screen, async (home) => {
    if (!home) throw notThere('forget', object);
    const release = await home.lock(options.lockTimeout, screen.terminal.signal);
    try {
      const { state, head } = await home.read();
      if (!state.has(object)) throw notThere('forget', object);
      const left = new Map([...state].filter(([key]) => key !== object));
      await home.write(left, { head, message: `Forget ${object}` });
    } finally {
      await release();
    }
    await screen.result(
      `Forgot ${quoted(object)}. On the service nothing changed.\n` +
        'From now on no run remembers it: where the specs declare it, it is adopted again or its base seen from history, and where they do not it is never pruned.\n',
    );
  });

/** May be repeated. The lock of this machine ends with its holder, so that only a shared one can be left over. */
const unlockState: OnDirectory = async (directory, options, screen) =>
  withState(directory, options, screen, async (home) => {
    const shared = home instanceof StateStore && home.isShared ? home : null;
    const holder = await shared?.lockHolder();
    if (!shared || !holder) {
      const why = shared
        ? 'nobody holds the lock of the shared state'
        : 'a state that is not shared is locked by a run that is alive, and by nothing else';
      return screen.result(`Nothing to unlock: ${why}.\n`);
    }
    if (!(await shared.breakLock(holder))) {
      const why = 'its lock moved meanwhile, so its holder is alive';
      throw new FlagkeelError('IN_USE', `cannot unlock the shared state: ${why}`);
    }
    return screen.result(`Unlocked. It was held by ${clean(holder.who)}.\n`);
  });

function notThere(verb: string, object: string): FlagkeelError {
  const why = object.includes('@') ? 'an object has no environment in its id' : 'it is not there';
  const wayOut = 'flagkeel state list shows what is';
  return new FlagkeelError('USAGE', `cannot ${verb} ${quoted(object)}: ${why} (${wayOut})`);
}

const rebuildState: OnDirectory = async (directory, options, screen) => {
  await using run = await openRun(directory, options, screen.surroundings());
  const { context } = run;
  const { desired: declared, reader, at } = await askCatalog(context);
  const desired = bindEnvironments(declared, environmentNames(at.environments));
  checkNamesOnService(desired, at);
  const home = await context.openState(at);
  if (!home) {
    const why = 'there is no repository that can be written (set FLAGKEEL_STATE_DIR)';
    throw new FlagkeelError('GIT', `cannot rebuild the state: ${why}`);
  }
  await context.lockState(home);
  // Null if there is a state that cannot be read.
  const old = await home.read().catch((error: unknown) => {
    if (error instanceof FlagkeelError && error.code === 'STATE_UNREADABLE') return null;
    throw error;
  });
  context.progress?.phase('look');
  const head = context.source.revision.commit;
  const policy = resolvePolicy(desired, at, context.options, {
    stateless: false,
    environments: {},
  });
  const about = { desired, state: old?.state ?? new Map(), policy, whole: true };
  const input = await observeScope(context, { reader, at }, about);
  const plan = planChanges(input);
  const isInSync = plan.changes.length + plan.withheld.length === 0;
  const applied = isInSync ? head : (old?.head ?? null);
  const next = stateAfterVerify(input, new Set(plan.unchanged), head, new Date().toISOString());
  const meta = { head: applied, message: 'Rebuild', outOfSync: null, afresh: old === null };
  await home.write(next, meta);
  const different = [...plan.changes, ...plan.withheld].map(({ id }) => id);
  const rebuilt = { recorded: plan.unchanged, unknown: sortedSet(different), kept: old !== null };
  await screen.print(rebuilt, () => rebuiltText(rebuilt));
};

interface RebuiltState {
  readonly recorded: readonly string[];
  readonly unknown: readonly string[];
  /** Whether an old state could be read, which stays where nothing better was found. */
  readonly kept: boolean;
}

function rebuiltText({ recorded, unknown, kept }: RebuiltState): string {
  const lines = [
    `Recorded ${plural(recorded.length, 'object that is', 'objects that are')} equal to HEAD. On the service nothing changed.`,
    ...(unknown.length === 0
      ? []
      : [
          'These differ from HEAD. Which side changed is not known, so the next run treats them as new:',
          ...unknown.map((id) => `  ${clean(id)}`),
        ]),
    ...(kept
      ? ['What was remembered of other objects was kept.']
      : [
          'Not recovered: objects that had left the specs, which are never pruned now; unfinished creations; and since when a flag is killed on the service.',
        ]),
  ];
  return `${lines.join('\n')}\n`;
}

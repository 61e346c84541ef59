import { connect } from '../api/connect.js';
import { openRun, type Run } from '../compose/open-run.js';
import { operatorSettings } from '../config.js';
import { EXIT, FlaghoistError, type ExitCode } from '../errors.js';
import type { StateHome } from '../git/state-home.js';
import type { StateReading } from '../git/state-ref.js';
import { sortedSet } from '../kinds/json.js';
import { planChanges } from '../plan/plan.js';
import { stateAfterVerify } from '../plan/next-state.js';
import { clean } from '../report/clean.js';
import { InvalidSpecsError } from '../stages/run.js';
import { readSpecs } from '../specs/read-specs.js';
import { look } from '../stages/look.js';
import { checkNamesOnService, resolvePolicy } from '../stages/policy.js';
import type { StateFlags, Terminal } from './options.js';
import { openScreen } from './screen.js';

interface Rebuilt {
  /** Objects that are equal to HEAD: their bases are known again. */
  readonly recorded: readonly string[];
  /** Objects of HEAD whose base stays unknown. */
  readonly unknown: readonly string[];
  /** Whether the old state could be read and was kept where nothing better was found. */
  readonly kept: boolean;
}

/**
 * Makes a new state of what is equal to HEAD. Reads the service and writes nothing to it; may be repeated.
 *
 * @throws FlaghoistError `GIT` there is no home for a state.
 */
export async function runStateRebuild(
  directory: string,
  flags: StateFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const screen = openScreen(flags, terminal);
  await using run = await openRun(directory, flags, {
    settings: operatorSettings(terminal.environment),
    signal: terminal.signal,
    note: (text) => {
      screen.note(text);
    },
  });
  const rebuilt = await rebuild(run);
  const json = `${JSON.stringify({ formatVersion: 1, ...rebuilt }, null, 2)}\n`;
  await screen.result(flags.format === 'json' ? json : rebuiltText(rebuilt));
  return EXIT.ok;
}

async function rebuild({ context }: Run): Promise<Rebuilt> {
  const { source, options } = context;
  const specs = await readSpecs(source.tree);
  if (!specs.ok) throw new InvalidSpecsError(specs.diagnostics, new Map());
  const { desired } = specs;
  const reader = await context.openReader(desired);
  const at = await connect(reader, desired.config.workspace);
  checkNamesOnService(desired, at);
  const home = await context.openState(at);
  if (!home) throw noHome();
  const old = await readWhatIsLeft(home);
  const head = source.revision.commit;
  const input = await look(reader, at, {
    desired,
    state: old?.state ?? new Map(),
    policy: resolvePolicy(desired.config, at, options, false),
    checkout: source.checkout,
    head,
    whole: true,
    specs: context.memory.specs,
  });
  const plan = planChanges(input);
  const isInSync = plan.changes.length + plan.withheld.length === 0;
  await home.write(stateAfterVerify(input, new Set(plan.unchanged), head), {
    head: isInSync ? head : (old?.head ?? null),
    message: 'Rebuild',
    afresh: old === null,
  });
  const different = [...plan.changes, ...plan.withheld].map(({ id }) => id);
  return { recorded: plan.unchanged, unknown: sortedSet(different), kept: old !== null };
}

/** Null: there is something, and it cannot be read. */
async function readWhatIsLeft(home: StateHome): Promise<StateReading | null> {
  try {
    return await home.read();
  } catch (error) {
    if (error instanceof FlaghoistError && error.code === 'STATE_UNREADABLE') return null;
    throw error;
  }
}

function noHome(): FlaghoistError {
  return new FlaghoistError(
    'GIT',
    'cannot rebuild the state: there is no repository that can be written (set FLAGHOIST_STATE_DIR)',
  );
}

function rebuiltText({ recorded, unknown, kept }: Rebuilt): string {
  const lines = [
    `Recorded ${recorded.length} objects that are equal to HEAD. On the service nothing changed.`,
    ...(unknown.length === 0
      ? []
      : [
          'These differ from HEAD; which side changed cannot be known, and the next run treats them as first contact:',
          ...unknown.map((id) => `  ${clean(id)}`),
        ]),
    ...(kept
      ? ['What was remembered of other objects was kept.']
      : [
          'What could not be known: objects that left the specs earlier are nobody’s now and are never pruned; creations under way; and since when a flag is killed on the service.',
        ]),
  ];
  return `${lines.join('\n')}\n`;
}

import type { Workspace } from '../admin-api/workspace.js';
import { KillSender, killsAlone } from '../kill/first.js';
import { killsTakenBack } from '../kill/in-git.js';
import type { Killing } from '../kill/send.js';
import { bindEnvironments, environmentNames, type BoundDesired } from '../model/bound-desired.js';
import { keptIn } from '../model/collections.js';
import type { Desired } from '../model/desired.js';
import type { KillResults } from '../model/outcome.js';
import { FlagkeelError } from '../errors.js';
import { isAncestor, isOlder } from '../git/lineage.js';
import { killOrders } from '../plan/kills/orders.js';
import { noteRun, traced } from '../platform/telemetry.js';
import { readSpecs } from '../specs/read-specs.js';
import { NOTHING } from '../state/known-state.js';
import { flagIdsOf } from '../state/open.js';
import type { StateHome, StateReading } from '../state/store.js';
import { internBases } from '../state/tree.js';
import { InvalidSpecsError, type Begun, type Remembered, type RunContext } from './context.js';
import { recordKills, wasApplied } from './record.js';
import { selectedKeys, unknownEnvironment } from './scope.js';

/**
 * Reads the specs, opens the service and sends the kills, before anything that could fail or take long.
 *
 * @param killing null for a dry run.
 * @throws InvalidSpecsError after sending the kills of the invalid specs.
 */
export async function begin(context: RunContext, killing: Killing | null): Promise<Begun> {
  // Before the kills, which an unsigned commit may not order either.
  await context.requireSigned?.();
  const sender = killSender(context, killing);
  const { desired: written, ...rest } = await loadSpecs(context, sender);
  const { reader, workspace } = await sender.open(written);
  context.memory.place = { desired: written, workspace: workspace.workspace };
  noteRun({ 'flagkeel.workspace': workspace.workspace.name });
  const desired = bindEnvironments(written, environmentNames(workspace.environments));
  const kills = await sender.sendMissing(killOrders(desired), { reader, workspace });
  context.progress?.phase('read');
  const home = await context.openState(workspace);
  return { desired, ...rest, reader, workspace, kills, isDryRun: killing === null, home };
}

/** Any error stops the run, unless `quarantineInvalid` lets it go on with the valid objects. */
async function loadSpecs(
  { source, options, memory }: RunContext,
  kills: KillSender,
): Promise<Pick<Begun, 'quarantined' | 'invalid'> & { readonly desired: Desired }> {
  const specs = await traced('read specs', async () => readSpecs(source.tree, memory.specs));
  if (specs.ok) return { desired: specs.desired, quarantined: new Set(), invalid: [] };
  if (options.quarantineInvalid === true && specs.rest) {
    return { ...specs.rest, invalid: specs.diagnostics };
  }
  const { results, due } = await kills.sendAmongInvalid(specs);
  throw new InvalidSpecsError(specs.diagnostics, results, due);
}

/** @throws FlagkeelError `OLDER_HEAD`: an earlier run applied a newer commit, or one that is not here. */
export async function readState(
  context: RunContext,
  home: StateHome | null,
  desired: BoundDesired,
): Promise<Remembered> {
  context.memory.states.intern = internBases(desired);
  const last = await traced('read state', async () => home?.read());
  const { head: applied, ...known } = last ?? { ...NOTHING, commit: null };
  const isBehind = await isBehindApplied(context, home, applied);
  const isWritten = applied !== null || known.state.size > 0;
  return { ...known, home, applied, isBehind, isWritten };
}

type Peeked = Partial<StateReading> & { readonly home: StateHome | null };

function killSender(context: RunContext, killing: Killing | null): KillSender {
  const isFirst = context.memory.place === null;
  const look = async (place: Workspace): Promise<Peeked> => {
    // Before the first run of a process, others may have gone on. A job that is run again must not send old kills. Nor
    // must kills wait for the fence that the state of a run stands behind.
    for (const open of isFirst ? [context.openRecords, context.peekState] : [context.peekState]) {
      try {
        const home = await open(place);
        if (home) return { ...(await home.read()), home };
      } catch {
        // A state that cannot be read must not stop kills.
      }
    }
    return { home: null };
  };
  // Once for each workspace: origin may be far away.
  const looks = new Map<string, Promise<Peeked>>();
  const peeked = async (place: Workspace): Promise<Peeked> =>
    keptIn(looks, place.workspace.id, async () => look(place));
  return new KillSender(
    {
      ...context,
      takenBack: async (place) => {
        const { head = null, home } = await peeked(place);
        const standing = await standingOf(context, home, head);
        if (standing === 'before' || standing === 'missing') return 'all';
        if (head === null || standing === 'after' || context.options.allowOlder) return [];
        return killsTakenBack(context.source.checkout, head);
      },
      killsSentOf: async (place) => {
        const { head = null, killsOf = null } = await peeked(place);
        if (head === null || killsOf === null) return head ?? killsOf;
        const { checkout } = context.source;
        return isOlder(checkout, head, killsOf).then(
          (isBefore) => (isBefore ? killsOf : head),
          () => null,
        );
      },
      // Of the shared state: a fresh clone has none of its own yet, and would find nothing by id.
      flagIdsOf: async (place) => flagIdsOf({ ...NOTHING, ...(await peeked(place)) }),
      record: async (place, results) =>
        recordKills(context, place, results, context.source.revision.commit),
    },
    killing,
  );
}

/**
 * Sends the kills that git orders and the service lacks, and nothing else: it takes no lock, and of the service it
 * reads the workspace, its environments and the definitions that are to be killed. Safe to repeat.
 *
 * @returns the kills that were not live, as they ended.
 * @throws InvalidSpecsError after it sent the kills of the valid parts: the invalid ones may order more.
 * @throws FlagkeelError as `KillSender.sendAlone`; `USAGE`: `--environment` names none of the config; or, after the
 *   kills were sent, another filter names nothing in the specs.
 */
export async function sendKillsAlone(context: RunContext, killing: Killing): Promise<KillResults> {
  const { source, memory, options } = context;
  await context.requireSigned?.();
  const sender = killSender(context, killing);
  const specs = await readSpecs(source.tree, memory.specs);
  const desired = specs.ok ? specs.desired : specs.config && killsAlone(specs.config, specs.kills);
  const names = desired?.config.environments.map(({ name }) => name) ?? [];
  const unknown = options.environments.find((each) => !names.includes(each));
  if (desired && unknown !== undefined) throw unknownEnvironment(unknown, names);
  const results: KillResults = desired ? await sender.sendAlone(desired) : new Map();
  if (!specs.ok) throw new InvalidSpecsError(specs.diagnostics, results);
  // After the kills, because a misspelt filter must not keep them back.
  selectedKeys(options, bindEnvironments(specs.desired, new Map()), null);
  return results;
}

/**
 * How HEAD stands to the applied commit. `beside`: neither is an ancestor of the other. `missing`: the applied commit is
 * not here, and HEAD does not follow it.
 */
async function standingOf(
  { source, options }: RunContext,
  home: StateHome | null,
  applied: string | null,
): Promise<'after' | 'before' | 'beside' | 'missing'> {
  const head = source.revision.commit;
  if (options.allowOlder === true || head === null || applied === null) return 'after';
  const { checkout } = source;
  if ((await isAncestor(checkout, applied, head)) === true) return 'after';
  const isBefore = await isAncestor(checkout, head, applied);
  if (isBefore === true) return 'before';
  const found = await checkout.repository?.objects.header(`${applied}^{commit}`);
  if (found !== null) return isBefore === false ? 'beside' : 'after';
  // A complete clone has all commits before HEAD: where it lacks the applied one, HEAD does not follow it.
  return !checkout.shallow || (await wasApplied(home, head)) ? 'missing' : 'after';
}

/** @throws FlagkeelError `OLDER_HEAD`: HEAD does not follow the applied commit, which the run would revert. */
async function isBehindApplied(
  context: RunContext,
  home: StateHome | null,
  applied: string | null,
): Promise<boolean> {
  const head = context.source.revision.commit;
  if (head === null || applied === null) return false;
  const standing = await standingOf(context, home, applied);
  const { allowOlder, mayBeBehind } = context.options;
  // A followed branch may be rewritten, and what a review does not cover is left alone.
  const mayBeBeside = allowOlder === 'beside' || mayBeBehind === true;
  if (standing === 'after' || (standing === 'beside' && mayBeBeside)) return false;
  const [from, to] = [head.slice(0, 8), applied.slice(0, 8)];
  if (mayBeBehind === true) {
    context.note(
      `HEAD ${from} ${standing === 'missing' ? 'does not follow' : 'is behind'} ${to}, the commit of the last apply: only what its review covers is looked at, and what later commits changed is left alone`,
    );
    return true;
  }
  const why = {
    before: 'which is newer (use --allow-older)',
    beside: `which HEAD does not follow (git merge ${to}; flagkeel plan --since ${to} for what HEAD alone changes; or --allow-older; branches that never meet, as one for each environment, need a config directory each)`,
    missing: `which is not in this clone (git pull; after a rewrite of history use --allow-older; if ${to} is of another repository, give each a FLAGKEEL_STATE_DIR of its own, or a config directory of another name)`,
  }[standing];
  const message = `cannot go back to ${from}: the last apply was of ${to}, ${why}`;
  throw new FlagkeelError('OLDER_HEAD', message);
}

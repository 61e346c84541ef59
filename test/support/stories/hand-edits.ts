import { environmentOf, pick, someKeys } from './commits.js';
import type { Event, HandEditKind } from './events.js';
import type { RawState } from './raw-state.js';
import type { StoryWorkspace } from './service.js';
import { FLAGS, KEYS, SEGMENTS, share } from './specs.js';
import { onOff } from '../on-off.js';
import { aDefinition } from '../service-calls.js';

type Numbers = Event['numbers'];

interface Place {
  readonly workspace: StoryWorkspace;
  /** What was there after each event before, the oldest first. */
  readonly past: readonly RawState[];
}

/** Somebody changes something on the service. What the service refuses has not happened. */
export async function editByHand(
  kind: HandEditKind,
  numbers: Numbers,
  place: Place,
): Promise<void> {
  await EDITS[kind](numbers, place);
}

type Edit = (numbers: Numbers, place: Place) => Promise<unknown>;

const EDITS: Readonly<Record<HandEditKind, Edit>> = {
  'hand-ramp': async (numbers, place) =>
    patchField(numbers, place, '/defaultRule', onOff(share(numbers[2]))),
  'hand-allocate': async (numbers, place) =>
    patchField(numbers, place, '/trafficAllocation', share(numbers[2]) + 1),
  'hand-target': async (numbers, place) => patchTargets(numbers, place),
  'hand-rule': async (numbers, place) => patchField(numbers, place, '/rules', rules(numbers[2])),
  'hand-describe': async ([which, , what], { workspace, past }) =>
    workspace.byHand('PATCH', flagPath(workspace, pick(liveFlags(past), which)), [
      { op: 'replace', path: '/description', value: `by hand ${Math.floor(what * 3)}` },
    ]),
  'hand-rollback': async (numbers, place) => rollBack(numbers, place),
  'hand-kill': async (numbers, place) => patchField(numbers, place, '/killed', true),
  'hand-restore': async (numbers, place) => patchField(numbers, place, '/killed', false),
  'hand-swap': async (numbers, place) => swapKey(numbers, place),
  'hand-keys': async ([which, where, what], { workspace }) => {
    const path = segmentPath(workspace, pick(SEGMENTS, which), where);
    return what < 0.5
      ? workspace.byHand('PUT', `${path}/upload`, [pick(KEYS, what * 2)])
      : workspace.byHand('PUT', `${path}/removeKeys`, { keys: someKeys(what), comment: 'c' });
  },
  'hand-delete': async ([which, where, what], { workspace, past }) => {
    const flag = flagPath(workspace, pick(liveFlags(past), which));
    return workspace.byHand('DELETE', what < 0.7 ? inEnvironment(workspace, flag, where) : flag);
  },
  'hand-create': async (numbers, place) => createForeign(numbers, place),
  'hand-deactivate': async ([which, where], { workspace }) => {
    const path = segmentPath(workspace, pick(SEGMENTS, which), where);
    await workspace.byHand('PUT', `${path}/removeKeys`, { keys: KEYS, comment: 'c' });
    return workspace.byHand('DELETE', path);
  },
};

/** Names of the flags that were there at the last look; all that there may be, where there was none. */
export function liveFlags(past: readonly RawState[]): readonly string[] {
  const found = FLAGS.filter((name) => past.at(-1)?.has(`flag/${name}`) === true);
  return found.length === 0 ? FLAGS : found;
}

function flagPath({ workspaceId }: StoryWorkspace, name = ''): string {
  return `/splits/ws/${workspaceId}/${name}`;
}

function inEnvironment({ environments }: StoryWorkspace, flag: string, where: number): string {
  return `${flag}/environments/${environments.get(environmentOf(where)) ?? ''}`;
}

function segmentPath({ environments }: StoryWorkspace, name = '', where: number): string {
  return `/segments/${environments.get(environmentOf(where)) ?? ''}/${name}`;
}

function rules(chance: number): object[] {
  if (chance < 0.5) return [];
  const matcher = { type: 'IN_LIST_STRING', attribute: 'country', strings: ['PT'] };
  const condition = { combiner: 'AND', matchers: [matcher] };
  return [{ condition, buckets: onOff(share(chance)) }];
}

async function patchField(
  [which, where]: Numbers,
  { workspace, past }: Place,
  path: string,
  value: unknown,
): Promise<void> {
  const definition = inEnvironment(
    workspace,
    flagPath(workspace, pick(liveFlags(past), which)),
    where,
  );
  await workspace.byHand('PATCH', definition, [{ op: 'replace', path, value }]);
}

interface LiveDefinition {
  readonly treatments: readonly { readonly name: string }[];
}

async function patchTargets(numbers: Numbers, { workspace, past }: Place): Promise<void> {
  const [which, where, what] = numbers;
  const path = inEnvironment(workspace, flagPath(workspace, pick(liveFlags(past), which)), where);
  const live = (await workspace.ask(path)) as LiveDefinition | null;
  if (!live) return;
  const value = live.treatments.map((each, index) =>
    index === 0 ? { ...each, keys: someKeys(what) } : each,
  );
  await workspace.byHand('PATCH', path, [{ op: 'replace', path: '/treatments', value }]);
}

const ROLLED_BACK = ['/defaultRule', '/trafficAllocation'];

/** Puts back what was there at some time before, and is not there now. */
async function rollBack(numbers: Numbers, place: Place): Promise<void> {
  const [which, where, what] = numbers;
  const path = pick(ROLLED_BACK, (what * 10) % 1) ?? '';
  const id = `flag/${pick(liveFlags(place.past), which) ?? ''}@${environmentOf(where)}`;
  const texts = place.past.map((state) => JSON.stringify(state.get(id)?.get(path) ?? null));
  const others = new Set(texts.filter((text) => text !== 'null' && text !== texts.at(-1)));
  const text = pick([...others], what);
  if (text !== undefined) await patchField(numbers, place, path, JSON.parse(text));
}

/** As many keys as before. */
async function swapKey([which, where, what]: Numbers, { workspace, past }: Place): Promise<void> {
  const path = segmentPath(workspace, pick(SEGMENTS, which), where);
  const id = `segment/${pick(SEGMENTS, which) ?? ''}@${environmentOf(where)}`;
  const keys = (past.at(-1)?.get(id)?.get('keys') ?? []) as string[];
  const others = KEYS.filter((key) => !keys.includes(key));
  const [gone, come] = [pick(keys, what), pick(others, what)];
  if (gone === undefined || come === undefined) return;
  await workspace.byHand('PUT', `${path}/removeKeys`, { keys: [gone], comment: 'c' });
  await workspace.byHand('PUT', `${path}/upload`, [come]);
}

/** A flag that somebody else makes, perhaps under a name that git will have. */
async function createForeign([which, where, what]: Numbers, { workspace }: Place): Promise<void> {
  const { workspaceId } = workspace;
  const name = pick(FLAGS.slice(2), which) ?? '';
  const trafficType = what < 0.15 ? 'account' : 'user';
  await workspace.byHand('POST', `/splits/ws/${workspaceId}/trafficTypes/${trafficType}`, { name });
  const path = inEnvironment(workspace, flagPath(workspace, name), where);
  const theirs = aDefinition({ killed: what > 0.8, defaultRule: onOff(share(what)) });
  await workspace.byHand('POST', path, theirs);
}

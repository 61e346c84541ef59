import type { RequestListener } from 'node:http';
import { API_PREFIX } from '../../../src/admin-api/wire.js';
import type { EnvironmentContent } from '../../../src/service/store/workspaces.js';
import type { Seed } from '../../../src/service/seed.js';
import type { AuditEntry } from '../../../src/service/store/audit.js';
import { noisy, withHardKeys, withIdsAlone } from '../service-habits.js';
import { startTestService, type Fault, type TestService } from '../service.js';
import type { Ask, RawPlace } from './raw-state.js';

/**
 * Whom the stories are told to: our service; the same as the contract alone shows it; and one that shows definitions by
 * their id alone, counts the keys of a page, and adds what nobody knows to its answers.
 */
export const SERVICE_KINDS = ['ours', 'strict', 'other'] as const;
export type ServiceKind = (typeof SERVICE_KINDS)[number];

export interface StoryService extends TestService {
  readonly kind: ServiceKind;
  /** A workspace that no story had before. */
  workspace(): Promise<StoryWorkspace>;
}

export interface StoryWorkspace extends RawPlace {
  readonly name: string;
  /** Reads past all habits of the service. */
  readonly ask: Ask;
  /** What a person does by hand, past all habits of the service. @returns the status. */
  byHand(method: string, path: string, body?: unknown): Promise<number>;
  /** What the service recorded of writes to the workspace, the newest first. */
  recorded(): Promise<readonly AuditEntry[]>;
}

/** Title and comment of all that is done by hand. */
export const BY_HAND = 'By hand';

const PAST_HABITS = 'x-past-habits';

/** Makes requests fail, but for those that go past the habits of the service. */
export function failOthers(service: TestService, choose: (method: string) => Fault | undefined) {
  service.failAtRandom((method, { headers }) =>
    headers[PAST_HABITS] === undefined ? choose(method) : undefined,
  );
}

/**
 * @param workspaces how many stories it is for.
 * @param environments of each workspace.
 */
export async function startStoryService(
  kind: ServiceKind,
  workspaces: number,
  environments: readonly EnvironmentContent[] = STORY_ENVIRONMENTS,
): Promise<StoryService> {
  const service = await startTestService({
    store: { kind: 'memory' },
    strict: kind === 'strict',
    seed: seedOf(workspaces, environments),
    ...(kind === 'other' && { middleware: withHabits }),
  });
  const all = await listWorkspaces(service);
  let next = 0;
  return {
    ...{ ...service, kind },
    workspace: async () => {
      const [name, id] = all[next++] ?? [];
      if (name === undefined || id === undefined) throw new Error('bug: too few workspaces');
      return workspaceOf(service, { kind, name, id });
    },
  };
}

const STORY_ENVIRONMENTS = [{ name: 'staging' }, { name: 'production', production: true }];

function seedOf(workspaces: number, environments: readonly EnvironmentContent[]): Seed {
  const trafficTypes = ['user', 'account'];
  return {
    workspaces: Array.from({ length: workspaces }, (_, index) => {
      return { name: `story-${index}`, environments, trafficTypes };
    }),
  };
}

async function workspaceOf(
  service: TestService,
  { kind, name, id }: { kind: ServiceKind; name: string; id: string },
): Promise<StoryWorkspace> {
  const send = async (method: string, path: string, body?: unknown): Promise<Response> =>
    request(service, method, path, body);
  const ask: Ask = async (path) => {
    // A strict service shows a flag by itself only where it is patched, and a patch of nothing changes nothing.
    const isFlag = kind === 'strict' && /^\/splits\/ws\/[^/]+\/[^/]+$/.test(path);
    const answer = isFlag ? await send('PATCH', path, []) : await send('GET', path);
    if (answer.status === 404) return null;
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const environments = (await ask(`/environments/ws/${id}`)) as { id: string; name: string }[];
  return {
    name,
    workspaceId: id,
    environments: new Map(environments.map((each) => [each.name, each.id])),
    ask,
    byHand: async (method, path, body) => {
      const note = `title=${encodeURIComponent(BY_HAND)}&comment=${encodeURIComponent(BY_HAND)}`;
      const answer = await send(method, `${path}${path.includes('?') ? '&' : '?'}${note}`, body);
      await answer.text();
      return answer.status;
    },
    recorded: async () => service.audit({ workspaceId: id }),
  };
}

async function listWorkspaces(service: TestService): Promise<(readonly [string, string])[]> {
  const found: (readonly [string, string])[] = [];
  for (;;) {
    const answer = await request(service, 'GET', `/workspaces?limit=200&offset=${found.length}`);
    const { objects } = (await answer.json()) as { objects: { id: string; name: string }[] };
    if (objects.length === 0) return found;
    found.push(...objects.map(({ id, name }) => [name, id] as const));
  }
}

async function request(
  { origin, key }: TestService,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  return fetch(`${origin}${API_PREFIX}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      [PAST_HABITS]: 'yes',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** The third service. Requests of the stories themselves go past what it is in the habit of. */
function withHabits(next: RequestListener): RequestListener {
  const counting = withHardKeys(withIdsAlone(next));
  const adding = noisy(counting);
  return (incoming, response) => {
    if (incoming.headers[PAST_HABITS] !== undefined) next(incoming, response);
    // The noise turns lists round, and pages that do not prove how many there are hold together by their order alone.
    else if (incoming.url?.includes('/keys') === true) counting(incoming, response);
    else adding(incoming, response);
  };
}

import { definitionFromWire, patched } from '../model/flag/wire.js';
import { sameJson } from '../model/json.js';
import { definitionId } from '../model/ref.js';
import * as shapes from './decode.js';
import { look } from './look.js';
import { KILL, type WireContent, type WireDefinition, type WirePatchOperation } from './wire.js';
import {
  changedByOthers,
  learning,
  orFlagGone,
  removed,
  StepError,
  valueOf,
  written,
  writtenInBody,
  type WriteCall,
  type WriteOf,
  type Writes,
} from './write-call.js';

const ROUTE = 'splits/ws/:workspace/:flag/environments/:environment';

export const DEFINITION_WRITES = {
  'create-definition': async ({ flag, body }, call) => {
    const writing = writtenInBody(call, 'createDefinition', {
      kind: 'create',
      method: 'POST',
      route: ROUTE,
      at: atOf(flag, call),
      body,
      what: `create the definition of flag ${JSON.stringify(flag)}`,
      check: shapes.definition,
      confirm: async () => {
        const live = await liveDefinition(flag, call);
        return live && isSame(live, body) ? live : undefined;
      },
    });
    const created = await orFlagGone(flag, call, learning(flag, call, writing.then(valueOf)));
    call.reader.learnFlag(call.place.workspaceId, created);
    return { created };
  },
  'patch-definition': patchDefinition,
  'delete-definition': async ({ flag }, call) => {
    const what = `delete the definition of flag ${JSON.stringify(flag)}`;
    await removed(call, { route: ROUTE, at: atOf(flag, call), what });
  },
} satisfies Partial<Writes>;

function atOf(flag: string, { place }: WriteCall) {
  return { workspace: place.workspaceId, environment: place.environmentId, flag };
}

/**
 * The contract has no conditional writes, so that an old reading is repeated before the patch. A foreign change between
 * the two goes unnoticed here.
 */
async function patchDefinition(
  step: WriteOf<'patch-definition'>,
  call: WriteCall,
): Promise<undefined> {
  const { flag, operations, expected } = step;
  if (call.place.isStale === true) {
    const live = await liveDefinition(flag, call, expected.id);
    if (live === undefined || !isSame(live, expected)) {
      const why = live
        ? 'it changed on the service after the plan was made'
        : 'the service showed it for the plan and does not show it now, or not to this key';
      throw new StepError('CHANGED_MEANWHILE', `cannot patch ${definitionId(step)}: ${why}`);
    }
  }
  await sendPatch(flag, operations, call, async () => {
    const live = await liveDefinition(flag, call, expected.id);
    if (live && isSame(live, patched(expected, operations))) return live;
    if (live && isSame(live, expected)) return undefined;
    throw changedByOthers(`the definition of flag ${JSON.stringify(flag)}`);
  });
}

/** @param confirm see `WriteRequest`. @returns the answer, or null unless it is a definition of this place. */
export async function sendPatch(
  flag: string,
  operations: readonly WirePatchOperation[],
  call: WriteCall,
  confirm?: () => Promise<WireDefinition | undefined>,
): Promise<WireDefinition | null> {
  const isUrgent = sameJson(operations, KILL);
  return written(call, {
    // Safe to repeat; any other patch could undo a foreign change in between.
    kind: isUrgent ? 'write' : 'patch',
    lane: isUrgent ? 'urgent' : 'normal',
    method: 'PATCH',
    route: ROUTE,
    at: atOf(flag, call),
    body: operations,
    what: `${isUrgent ? 'kill' : 'patch the definition of'} flag ${JSON.stringify(flag)}`,
    check: (json) => definitionOrNull(json, flag, call.place.environmentId),
    ...(confirm && { confirm }),
  });
}

/** The contract leaves open what answers a patch. */
function definitionOrNull(
  json: unknown,
  flag: string,
  environmentId: string,
): WireDefinition | null {
  try {
    const found = shapes.definition(json);
    const { id, name } = found.environment;
    return [id, name].includes(environmentId) && found.name === flag ? found : null;
  } catch {
    return null;
  }
}

function isSame(a: WireContent, b: WireContent): boolean {
  return sameJson(definitionFromWire(a), definitionFromWire(b));
}

async function liveDefinition(
  flag: string,
  { reader, place }: WriteCall,
  id?: string,
): Promise<WireDefinition | undefined> {
  const live = await look(reader, place, { name: flag, id });
  return live.is === 'seen' ? live.definition : undefined;
}

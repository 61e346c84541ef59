/** Checks of references against the store: what a definition refers to must exist, and stays while it does. */

import type { WireDefinition } from '../../admin-api/wire.js';
import { badRequest, conflict, type Problem } from '../http/problem.js';
import {
  checkBelongs,
  definitionFrom,
  definitionReplaced,
  usesOf,
  type DefinitionContent,
  type Use,
} from '../rules/definition.js';
import { isSameJson } from '../rules/json.js';
import type { Place } from '../store/definition-lookups.js';
import { findDefinition, flagsUsedBy, usersOf } from '../store/definitions.js';
import { missingFlags, type StoredFlag } from '../store/flags.js';
import { inactiveSegments } from '../store/segments.js';
import type { Db, Tables, Within } from '../store/tables.js';
import { countUses } from '../store/workspaces.js';

/**
 * @param before null if the definition is created.
 * @param given fits the body of a definition, except that members may be missing. Never changes `killed`.
 */
export async function checkedDefinition(
  db: Db,
  place: Place,
  { flag, before }: { flag: StoredFlag; before: WireDefinition | null },
  given: object,
): Promise<{ readonly content: DefinitionContent; readonly uses: readonly Use[] }> {
  const { environment } = place;
  if (before === null && (await findDefinition(db, environment.id, flag.name))) {
    throw conflict(`Feature flag ${flag.name} already has a definition in ${environment.name}`);
  }
  const trafficType = { id: flag.traffic_type_id, name: flag.traffic_type_name };
  checkBelongs(given, { ...flag, environment, trafficType });
  const content =
    before === null
      ? definitionFrom(given)
      : definitionReplaced(before, { ...given, killed: before.killed });
  return { content, uses: await checkedUses(db, place, flag.name, content) };
}

/** Null if the references stay, which need no check: objects that a definition refers to cannot be deleted. */
export async function newUses(
  db: Db,
  place: Place,
  before: WireDefinition,
  content: DefinitionContent,
): Promise<Use[] | null> {
  const isSame = isSameJson(usesOf(content.body), usesOf(before));
  return isSame ? null : checkedUses(db, place, before.name, content);
}

async function checkedUses(
  db: Db,
  place: Place,
  flag: string,
  { body }: DefinitionContent,
): Promise<Use[]> {
  const uses = usesOf(body);
  const flags = await checkThere(db, place, uses, badRequest);
  if (await leadsTo(db, place.environment.id, flags, flag)) {
    throw badRequest(`Feature flag ${flag} cannot depend on itself`);
  }
  return uses;
}

/** @returns the flags. @throws Problem, made by `refusal`, if a segment is not active here or a flag does not exist. */
export async function checkThere(
  db: Db,
  { workspace, environment }: Place,
  uses: readonly Use[],
  refusal: (why: string) => Problem,
): Promise<string[]> {
  const named = (kind: Use['kind']) =>
    uses.filter((use) => use.kind === kind).map(({ name }) => name);
  const [segment] = await inactiveSegments(db, environment.id, named('segment'));
  if (segment !== undefined) {
    throw refusal(`There is no segment ${segment} active in ${environment.name}`);
  }
  const flags = named('flag');
  const [missing] = await missingFlags(db, workspace.id, flags);
  if (missing !== undefined) throw refusal(`There is no feature flag ${missing}`);
  return flags;
}

/** Directly or through others, or is `goal` itself. Visits no flag twice, so that the walk ends even in a circle. */
async function leadsTo(
  db: Db,
  environmentId: string,
  flags: readonly string[],
  goal: string,
): Promise<boolean> {
  const seen = new Set<string>();
  let next: readonly string[] = flags;
  while (next.length > 0) {
    if (next.includes(goal)) return true;
    for (const name of next) seen.add(name);
    next = [...(await flagsUsedBy(db, environmentId, next))].filter((name) => !seen.has(name));
  }
  return false;
}

/** @throws Problem (409) the definition of another flag names the object. */
export async function checkUnused(db: Db, place: Within, { kind, name }: Use): Promise<void> {
  const { what, by, own } = {
    flag: { what: 'Feature flag', by: '', own: name },
    segment: { what: 'Segment', by: 'feature flag ', own: null },
  }[kind];
  const user = (await usersOf(db, place, { kind, name })).find(({ flag }) => flag !== own);
  if (user === undefined) return;
  const where = `in the environment ${user.environment}`;
  throw conflict(`${what} ${name} is used by ${by}${user.flag} ${where}`);
}

/** @param subject begins the refusal, such as `Workspace Default still has`. @throws Problem (409) a table has rows. */
export async function checkEmpty<Table extends keyof Tables>(
  db: Db,
  tables: readonly Table[],
  column: keyof Tables[Table] & string,
  id: string,
  subject: string,
): Promise<void> {
  for (const table of tables) {
    const count = await countUses(db, table, column, id);
    const what = table === 'activations' ? 'active segments' : table;
    if (count > 0) throw conflict(`${subject} ${count} ${what}`);
  }
}

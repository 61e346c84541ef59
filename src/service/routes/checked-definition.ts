/** Holds what a definition is to become against what the service has: nothing may refer to what is not there. */

import type { WireDefinition } from '../../admin-api/wire.js';
import { badRequest } from '../http/problem.js';
import {
  checkBelongs,
  definitionFrom,
  definitionReplaced,
  usesOf,
  type DefinitionContent,
  type Uses,
} from '../rules/definition.js';
import { isSameJson } from '../rules/json.js';
import type { Place } from '../store/definition-lookups.js';
import { flagsUsedBy } from '../store/definitions.js';
import { missingFlags, type StoredFlag } from '../store/flags.js';
import { inactiveSegments } from '../store/segments.js';
import type { Db } from '../store/tables.js';

/**
 * The definition that a change request asks for, held against the rules as if it were written now.
 *
 * @param of the flag, and what it has; null where a definition is to be created.
 * @param given fits the body of a definition, but that it may lack members. A request to replace a definition never moves the kill.
 * @throws Problem (400) it contradicts itself, names what is not there, or belongs to another flag or environment.
 */
export async function checkedContent(
  db: Db,
  place: Place,
  { flag, before }: { flag: StoredFlag; before: WireDefinition | null },
  given: object,
): Promise<DefinitionContent> {
  checkBelongs(given, {
    ...flag,
    environment: place.environment,
    trafficType: { id: flag.traffic_type_id, name: flag.traffic_type_name },
  });
  const content =
    before === null
      ? definitionFrom(given)
      : definitionReplaced(before, { ...given, killed: before.killed });
  await checkedUses(db, place, flag.name, content);
  return content;
}

/**
 * What a definition refers to after a change; null where it refers to the same as before. That is there: nothing that a
 * definition refers to can be taken away.
 */
export async function newUses(
  db: Db,
  place: Place,
  before: WireDefinition,
  content: DefinitionContent,
): Promise<Uses | null> {
  const isSame = isSameJson(usesOf(content.body), usesOf(before));
  return isSame ? null : checkedUses(db, place, before.name, content);
}

/**
 * Names of the segments and flags that a definition refers to, after making sure that all of them
 * can be referred to in this environment.
 */
export async function checkedUses(
  db: Db,
  { workspace, environment }: Place,
  flag: string,
  { body }: DefinitionContent,
): Promise<Uses> {
  const uses = usesOf(body);
  const [segment] = await inactiveSegments(db, environment.id, uses.segments);
  if (segment !== undefined) {
    throw badRequest(`There is no segment ${segment} active in ${environment.name}`);
  }
  const [missing] = await missingFlags(db, workspace.id, uses.flags);
  if (missing !== undefined) throw badRequest(`There is no feature flag ${missing}`);
  if (await leadsTo(db, environment.id, uses.flags, flag)) {
    throw badRequest(`Feature flag ${flag} cannot depend on itself`);
  }
  return uses;
}

/**
 * Whether one of `flags`, or what they depend on in turn, is `goal`. The walk ends even among flags
 * that depend on each other, because no flag is visited twice.
 */
async function leadsTo(
  db: Db,
  environmentId: string,
  flags: readonly string[],
  goal: string,
): Promise<boolean> {
  const seen = new Set<string>();
  let next: readonly string[] = flags;
  // Each round is one step further along the dependencies, so it needs the round before.
  while (next.length > 0) {
    if (next.includes(goal)) return true;
    for (const name of next) seen.add(name);
    next = (await flagsUsedBy(db, environmentId, next)).filter((name) => !seen.has(name));
  }
  return false;
}

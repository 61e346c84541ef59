import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../src/errors.js';
import type { AuditEntry } from '../../src/service/store/audit.js';
import type { JournalEntry } from './client.js';
import { at, emptyWorld, enact, type ChaosDefinition, type World } from './writes.js';

/** The rules that hold at any time, whoever did what in which order. */
export function invariantsBroken(world: World): string[] {
  return [...world.definitions].flatMap(([place, definition]) => {
    const [name = '', environment = ''] = place.split('@');
    const faults = faultsOf(definition, environment, world);
    if (!world.flags.has(name)) faults.push('is of a flag that is not there');
    return faults.map((fault) => `the definition ${place} ${fault}`);
  });
}

function faultsOf(definition: ChaosDefinition, environment: string, world: World): string[] {
  const faults: string[] = [];
  const treatments = new Set(definition.treatments.map(({ name }) => name));
  const lists = [definition.defaultRule, ...definition.rules.map(({ buckets }) => buckets)];
  if (lists.some((list) => list.reduce((sum, { size }) => sum + size, 0) !== 100)) {
    faults.push('has buckets that do not sum to 100');
  }
  const served = lists.flat().map(({ treatment }) => treatment);
  for (const name of [...served, definition.defaultTreatment, definition.baselineTreatment]) {
    if (!treatments.has(name)) faults.push(`names the treatment ${name} that it has not`);
  }
  for (const matcher of definition.rules.flatMap(({ condition }) => condition.matchers)) {
    const segment = String(matcher['string']);
    if (matcher.type === 'IN_SEGMENT' && !world.keys.has(at(segment, environment))) {
      faults.push(`names the segment ${segment} that is not active there`);
    }
    const depends = matcher['depends'] as { readonly splitName: string } | undefined;
    if (depends !== undefined && !world.flags.has(depends.splitName)) {
      faults.push(`depends on the flag ${depends.splitName} that is not there`);
    }
  }
  return faults;
}

/** These change nothing where another client was faster. */
const MAY_BE_NO_CHANGE: ReadonlySet<string> = new Set([
  'kill',
  'restore',
  'activate',
  'remove-keys',
]);

/** Writes that take something out of every environment. */
const DELETES_EVERYWHERE: ReadonlySet<JournalEntry['write']['kind']> = new Set([
  'delete-flag',
  'delete-segment',
]);

/**
 * Holds what the clients were told against the audit log, and does again, in the log's order, all that was done.
 *
 * - Every write that was acknowledged has one entry, every refused one none.
 * - What was acknowledged before another was sent stands before it.
 * - Each accepted write was possible where it stands.
 *
 * @param log in the order of the changes.
 * @returns the world that must be there.
 */
export function replay(
  journal: readonly JournalEntry[],
  log: readonly AuditEntry[],
  violations: string[],
): World {
  const byTitle = new Map(journal.map((entry) => [entry.title, entry]));
  const logged = new Set<string>();
  const world = emptyWorld();
  let latestSent = -1;
  for (const { title, id, action, environment } of log) {
    const entry = byTitle.get(title ?? '');
    if (entry === undefined) {
      violations.push(`the audit entry ${id} (${title ?? 'no title'}) is of no request`);
      continue;
    }
    if (environment !== null && DELETES_EVERYWHERE.has(entry.write.kind)) {
      // What stood in each environment is recorded there, before the deletion itself.
      if (action !== 'delete' || logged.has(entry.title))
        violations.push(`${entry.title} has a trace that is none of a deletion`);
      continue;
    }
    if (logged.has(entry.title)) violations.push(`${entry.title} was recorded twice`);
    logged.add(entry.title);
    if (entry.answered !== null && entry.answered < latestSent) {
      violations.push(`${entry.title} was acknowledged first and recorded later`);
    }
    latestSent = Math.max(latestSent, entry.sent);
    try {
      enact(world, entry.write);
    } catch (error) {
      violations.push(`${entry.title}: ${messageOf(error)}`);
    }
  }
  violations.push(...journal.flatMap((entry) => unrecorded(entry, logged.has(entry.title))));
  return world;
}

function unrecorded({ title, write, status, shared }: JournalEntry, isLogged: boolean): string[] {
  if (status === null) return [];
  if (status !== 200) return isLogged ? [`${title} was refused (${status}) and recorded`] : [];
  if (isLogged || (shared && MAY_BE_NO_CHANGE.has(write.kind))) return [];
  return [`${title} (${write.kind} ${write.name}) was acknowledged and is lost`];
}

/** Where two worlds differ, in words. */
export function differences(expected: World, found: World): string[] {
  const parts = ['flags', 'definitions', 'keys'] as const;
  return [
    ...parts.flatMap((part) => mapDifferences(part, expected[part], found[part])),
    ...mapDifferences('segments', asMap(expected.segments), asMap(found.segments)),
  ];
}

const asMap = (names: ReadonlySet<string>): Map<string, true> =>
  new Map([...names].map((name) => [name, true]));

function mapDifferences(
  part: string,
  expected: ReadonlyMap<string, unknown>,
  found: ReadonlyMap<string, unknown>,
): string[] {
  return [...new Set([...expected.keys(), ...found.keys()])].flatMap((name) => {
    const [should, is] = [expected.get(name), found.get(name)];
    if (isDeepStrictEqual(should, is)) return [];
    return [`${part} ${name}: ${textOf(should)} was acknowledged, ${textOf(is)} is there`];
  });
}

function textOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  const plain = value instanceof Set ? [...(value as Set<unknown>)] : value;
  return JSON.stringify(plain).slice(0, 200);
}

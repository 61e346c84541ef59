import { API_PREFIX } from '../../../src/admin-api/wire.js';

type Objects = ReadonlyMap<string, string>;

/** Each object of a raw state by a name, as text. Keys of a segment are one object. */
function objectsOf(state: string): Objects {
  const collections = Object.entries(JSON.parse(state) as Record<string, unknown[]>);
  return new Map(
    collections.flatMap(([collection, members]) =>
      collection.startsWith('keys of')
        ? [[collection, JSON.stringify(members)] as const]
        : members.map(
            (each) =>
              [`${collection}: ${(each as { name: string }).name}`, JSON.stringify(each)] as const,
          ),
    ),
  );
}

/** Objects that are neither as they were nor as they are to be. Keys go and come in two steps, each whole. */
export function halfDone(before: string, now: string, wanted: string): string[] {
  const [old, present, end] = [objectsOf(before), objectsOf(now), objectsOf(wanted)];
  const names = new Set([...old.keys(), ...present.keys(), ...end.keys()]);
  return [...names]
    .filter((name) => !steps(name, old.get(name), end.get(name)).includes(present.get(name)))
    .map((name) => `half done: ${name} is ${present.get(name) ?? 'gone'}`);
}

function steps(
  name: string,
  old: string | undefined,
  end: string | undefined,
): (string | undefined)[] {
  if (!name.startsWith('keys of')) return [old, end];
  const [own, wanted] = [keysIn(old), keysIn(end)];
  const sorted = (keys: Iterable<string>): string => JSON.stringify([...keys].toSorted());
  return [
    ...[old, end, sorted([])],
    sorted(new Set([...own, ...wanted])),
    sorted(own.filter((key) => wanted.includes(key))),
  ];
}

const keysIn = (text: string | undefined): string[] => JSON.parse(text ?? '[]') as string[];

/** Which objects a write is about: the beginning of their names in the state. */
const SUBJECTS: readonly (readonly [RegExp, RegExp])[] = [
  [/^\/splits\/ws\/[^/]+\/[^/]+\/environments\//, /^definitions in /],
  [/^\/splits\/ws\//, /^flags: /],
  [/^\/segments\/ws\//, /^segments: /],
  [/^\/segments\//, /^keys of /],
];

/** Too few objects have changed for the writes that were acknowledged. */
export function missing(acknowledged: readonly string[], before: string, now: string): string[] {
  const [old, present] = [objectsOf(before), objectsOf(now)];
  const names = new Set([...old.keys(), ...present.keys()]);
  const changed = [...names].filter((name) => old.get(name) !== present.get(name));
  const taken = new Set<string>();
  return SUBJECTS.flatMap(([path, subject]) => {
    const writes = acknowledged.filter(
      (write) => !taken.has(write) && path.test(write.replace(/^\S+ /, '').replace(API_PREFIX, '')),
    );
    for (const write of writes) taken.add(write);
    const objects = new Set(writes.map(objectOf));
    const found = changed.filter((name) => subject.test(name)).length;
    if (objects.size <= found) return [];
    return [
      `lost: ${String(objects.size)} were acknowledged and ${String(found)} are there: ${writes.join(', ')}`,
    ];
  });
}

/** The same for all writes to the keys of a segment; creations have one path for all objects. */
function objectOf(write: string, index: number): string {
  if (/^POST .*\/trafficTypes\//.test(write)) return `${write} ${String(index)}`;
  return write.replace(/^\S+ /, '').replace(/\/(uploadKeys|removeKeys|upload)$/, '');
}

import { writtenTexts } from './definition-values.js';
import type { LiveSegment } from './live-objects.js';
import { Flow, mapping, yamlText, type Member } from './yaml-text.js';

/** More keys than these go into a file of their own. */
const MOST_INLINE_KEYS = 50;

/**
 * The files of one segment: path → text.
 *
 * @param taken paths that are in use; those of the key files are added.
 */
export function segmentFiles(segment: LiveSegment, taken: Set<string>): Map<string, string> {
  const files = new Map<string, string>();
  const environments = [...segment.environments].map(([environment, keys], position): Member => {
    if (keys.length <= MOST_INLINE_KEYS) return [environment, inlineKeys(keys)];
    const stem = `${segment.name}.${fileWord(environment) ?? `environment-${position + 1}`}`;
    const path = freePath(`segments/${stem}`, taken);
    const [listed, inline] = parted(keys);
    files.set(path, listed.map((key) => `${key}\n`).join(''));
    const keysFile: Member = ['keysFile', path.slice('segments/'.length)];
    const rest: Member = ['keys', inline.length === 0 ? undefined : writtenTexts(inline)];
    return [environment, mapping(rest, keysFile)];
  });
  const file = mapping(
    ['segment', segment.name],
    ['description', segment.description === '' ? undefined : segment.description],
    ['trafficType', segment.trafficType],
    ['environments', environments.length === 0 ? undefined : mapping(...environments)],
  );
  return files.set(`segments/${segment.name}.yaml`, yamlText(file));
}

function inlineKeys(keys: readonly string[]): Flow | ReadonlyMap<string, Flow | readonly string[]> {
  const written = writtenTexts(keys) as Flow | readonly string[];
  const block = new Map([['keys', written]]);
  return written instanceof Flow ? new Flow(block) : block;
}

/** Keys that go into the file, and those that its lines would change. */
function parted(keys: readonly string[]): [string[], string[]] {
  return [keys.filter(fitsKeyFile), keys.filter((key) => !fitsKeyFile(key))];
}

/** Whether a line of a key file can hold the key as it is. */
export function fitsKeyFile(key: string): boolean {
  return key !== '' && key === key.trim() && !key.startsWith('#') && !/[\n\uFEFF]/.test(key);
}

/** The name of an environment as part of a file name, where it can be one. */
function fileWord(environment: string): string | undefined {
  return /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$/.test(environment) ? environment : undefined;
}

function freePath(stem: string, taken: Set<string>): string {
  for (let number = 1; ; number += 1) {
    const path = number === 1 ? `${stem}.keys` : `${stem}-${number}.keys`;
    if (taken.has(path)) continue;
    taken.add(path);
    return path;
  }
}

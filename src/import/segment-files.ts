import type { Actual } from '../model/actual.js';
import { sortedMap } from '../model/collections.js';
import { Flow, mapping, writtenTexts, yamlText, type Member } from '../specs/edit/yaml-text.js';

export interface SegmentToWrite {
  readonly name: string;
  readonly trafficType: string;
  readonly description: string;
  /** Environment, by its name in the config → sorted keys, in config order; null if the service alone holds them. */
  readonly environments: ReadonlyMap<string, readonly string[] | null>;
}

/** @param words environments of the service, each with the config's word for it. */
export function liveSegments(actual: Actual, words: ReadonlyMap<string, string>): SegmentToWrite[] {
  return [...sortedMap(actual.segments)].flatMap(([name, { segment, environments: live }]) => {
    if (!segment) return [];
    const active = [...words].flatMap(([environment, word]) => {
      const found = live.get(environment);
      return found?.active === true ? [[word, found.keys?.keys ?? []] as const] : [];
    });
    const { trafficType, description } = segment;
    const said = { trafficType: trafficType.name, description: description ?? '' };
    return [{ name, ...said, environments: new Map(active) }];
  });
}

const MOST_INLINE_KEYS = 50;

/** The files of one segment: path → text. @param taken paths in use; the paths of key files are added to it. */
export function segmentFiles(segment: SegmentToWrite, taken: Set<string>): Map<string, string> {
  const files = new Map<string, string>();
  const environments = [...segment.environments].map(([environment, keys], position): Member => {
    if (keys === null) return [environment, new Flow(mapping(['mode', 'external']))];
    if (keys.length <= MOST_INLINE_KEYS) {
      const written = writtenTexts(keys);
      const block = mapping(['keys', written]);
      return [environment, written instanceof Flow ? new Flow(block) : block];
    }
    const other = `environment-${position + 1}`;
    const path = keyFileOf(`segments/${segment.name}`, environment, other, taken);
    const listed = keys.filter(fitsKeyFile);
    const inline = keys.filter((key) => !fitsKeyFile(key));
    files.set(path, listed.map((key) => `${key}\n`).join(''));
    const rest: Member = ['keys', inline.length === 0 ? undefined : writtenTexts(inline)];
    return [environment, mapping(rest, ['keysFile', path.slice('segments/'.length)])];
  });
  const file = mapping(
    ['segment', segment.name],
    ['description', segment.description === '' ? undefined : segment.description],
    ['trafficType', segment.trafficType],
    ['environments', environments.length === 0 ? undefined : mapping(...environments)],
  );
  return files.set(`segments/${segment.name}.yaml`, yamlText(file));
}

/** Whether a line of a key file keeps the key unchanged. */
export function fitsKeyFile(key: string): boolean {
  return key !== '' && key === key.trim() && !key.startsWith('#') && !/[\n\uFEFF]/.test(key);
}

/** The name of an environment that can be a part of a file name. */
const FILE_WORD = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$/;

/** @param other stands for the environment if its name can be no part of a file name. @param taken gets the path. */
export function keyFileOf(
  segment: string,
  environment: string,
  other: string,
  taken: Set<string>,
): string {
  const stem = `${segment}.${FILE_WORD.test(environment) ? environment : other}`;
  for (let number = 1; ; number += 1) {
    const path = number === 1 ? `${stem}.keys` : `${stem}-${number}.keys`;
    if (taken.has(path)) continue;
    taken.add(path);
    return path;
  }
}

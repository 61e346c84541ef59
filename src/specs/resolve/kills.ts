import type { KillSpec } from '../../generated/kills.schema.d.js';
import { FLAG_NAME, NAMED_KINDS } from '../../model/ref.js';
import type { DesiredKill } from '../../model/desired.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import type { LoadedFiles } from '../parse/load-files.js';
import { environmentDiagnostics, fileNameOf, type SpecSet } from './spec-set.js';
import { memberOf, valueAt } from '../../model/json.js';
import type { SpecFile } from '../parse/parse-file.js';

/** A valid entry counts, even with errors in its file or elsewhere, and in any list while the config is unreadable. */
export function resolveKills({ config, loaded }: SpecSet, found: Diagnostic[]): DesiredKill[] {
  return loaded.files.kills.flatMap((file) => {
    const environment = fileNameOf(file.path);
    const stranger = environmentDiagnostics({ config }, { file, path: [] }, environment);
    found.push(...stranger);
    if (stranger.length > 0) return [];
    const { kills: entries } = (file.value ?? {}) as { kills?: Record<string, KillSpec> };
    return file.keys('kills').flatMap((flag): DesiredKill[] => {
      const path = ['kills', flag];
      const entry = entries?.[flag];
      if (entry === undefined || !file.isSound(...path)) return [];
      const { pattern, form } = NAMED_KINDS.flag;
      if (pattern.test(flag)) {
        return [{ flag, environment, location: file.location(path), ...entry }];
      }
      found.push(file.diagnostic('flag-name', { path, at: 'key' }, `flag "${flag}": ${form}`));
      return [];
    });
  });
}

/** `killed: true` of flags and overlays, read as leniently as possible, to kill even if the specs are invalid. */
export function orderedKills(loaded: LoadedFiles, environments: readonly string[]): DesiredKill[] {
  const kills: DesiredKill[] = [];
  const add = (file: SpecFile, environment: unknown, path: readonly string[]): void => {
    const flag = file.nameIn('flag');
    if (flag === undefined || !FLAG_NAME.test(flag)) return;
    if (typeof environment !== 'string' || !environments.includes(environment)) return;
    const reason = `killed: true in ${file.path}`;
    kills.push({ flag, environment, location: file.location(path), reason });
  };
  for (const file of loaded.files.flag) {
    const { value } = file;
    const shared = valueAt(value, ['environments', '*', 'killed']);
    for (const environment of file.keys('environments')) {
      const path = ['environments', environment];
      const own = valueAt(value, [...path, 'killed']);
      if ((own ?? shared) === true)
        add(file, environment, own === true ? [...path, 'killed'] : path);
    }
  }
  for (const file of loaded.files['flag-overlay']) {
    const { value } = file;
    if (memberOf(value, 'killed') === true) add(file, memberOf(value, 'environment'), ['killed']);
  }
  return kills;
}

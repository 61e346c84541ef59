import type { SpecTree } from '../../model/spec-tree.js';
import { kindOf } from './load-files.js';

/** A file that looks like a spec but lies where flagkeel does not read it. */
export interface StrayFile {
  /** Relative to the config directory. */
  readonly path: string;
  readonly advice: string;
}

/** How `straysOf` recognises specs: a member that begins a line, a second one if that is common, and their folder. */
const MARKS = [
  [/^flag:/m, /^(?:treatments|environment):/m, 'flags lie in flags/'],
  [/^segment:/m, /^/, 'segments lie in segments/'],
  [/^kills:/m, /^/, 'kills stand in kills/<environment>.yaml'],
  [/^identities:/m, /^/, 'identities lie in identities/'],
  [/^tests:/m, /^cases:/m, 'spec tests lie in tests/ and end in .test.yaml'],
] as const;

/** @param beside candidate files outside of the folders of specs. */
export function straysOf(
  tree: SpecTree,
  beside: readonly { readonly path: string; readonly text: string }[],
): StrayFile[] {
  const inside = tree.list().flatMap(({ path, type }): StrayFile[] => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (type !== 'file' || name.startsWith('.') || kindOf(path) !== undefined) return [];
    if (name.endsWith('.keys')) return [{ path, advice: 'key files lie in segments/' }];
    if (name.endsWith('.csv')) return [{ path, advice: 'lists of identities lie in identities/' }];
    const isTest = path.startsWith('tests/') && name.endsWith('.yaml');
    return isTest ? [{ path, advice: 'the name of a spec test ends in .test.yaml' }] : [];
  });
  const outside = beside.flatMap(({ path, text }) => {
    if (path.endsWith('.keys')) return [{ path, advice: 'key files lie in segments/' }];
    const mark = MARKS.find(([first, second]) => first.test(text) && second.test(text));
    return mark ? [{ path, advice: mark[2] }] : [];
  });
  return [...inside, ...outside];
}

import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAIN, type CliResult } from './cli.js';
import type { TestForge } from './forge.js';

/** A pull request that was merged, as its forge knows it. */
export interface Merged {
  readonly number: number;
  readonly head: string;
  readonly merge: string;
  readonly isFork: boolean;
}

/** Something that happens on a forge. `merged` are all pull requests that were merged so far. */
export type ForgeEvent =
  | {
      readonly kind: 'pull-request';
      readonly number: number;
      /** The newest commit of its branch. */
      readonly head: string;
      /** The newest commit of `main`. */
      readonly base: string;
      readonly from: 'branch' | 'fork' | 'deleted-fork';
    }
  | {
      readonly kind: 'push';
      readonly commit: string;
      readonly changed: readonly string[];
      readonly merged: readonly Merged[];
    }
  /** A comment below a pull request; on GitLab a person with write access then starts the pipeline that reads it. */
  | {
      readonly kind: 'comment';
      readonly pull: Merged;
      readonly author: string;
      readonly body: string;
    }
  | { readonly kind: 'nightly' };

/** Each job of an event that ran, by its name without `flagkeel-`. */
export type JobResults = ReadonlyMap<string, CliResult>;

/** The world around the jobs. */
export interface ForgeWorld {
  /** A folder of this test alone. */
  readonly folder: string;
  readonly forge: TestForge;
  /** Makes a fresh checkout of the commit that an event is about, or of `main`. */
  readonly checkout: (event: ForgeEvent, directory: string) => void;
  readonly url: () => string;
  /** The Admin API key that the repository keeps for each environment of the forge. */
  readonly keys: Readonly<Record<'production' | 'flagkeel-review' | 'flagkeel-kill', () => string>>;
}

/** Runs what `init` writes, step by step, as the runner of a forge does. */
export interface ForgeJobs extends AsyncDisposable {
  /**
   * Runs every job that the event starts, one after the other.
   *
   * @param overrides variables that replace those of the project.
   */
  run(event: ForgeEvent, overrides?: Readonly<Record<string, string>>): Promise<JobResults>;
  /** Pull requests or merge requests that jobs opened, as `branch: title`. */
  readonly opened: readonly string[];
}

/** `npm install` puts this build there: the tests of the action and of the package ask a registry. */
const NPM = `#!/usr/bin/env bash
mkdir -p flagkeel/node_modules/.bin
printf '#!/usr/bin/env bash\\nexec node %q "$@"\\n' '${MAIN}' > flagkeel/node_modules/.bin/flagkeel
chmod +x flagkeel/node_modules/.bin/flagkeel
`;

/** Writes programs into a folder. @returns a PATH where they come first. */
export function withTools(folder: string, more: Readonly<Record<string, string>> = {}): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const [name, text] of Object.entries({ npm: NPM, ...more })) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  return `${bin}:${process.env['PATH'] ?? ''}`;
}

/** A fresh folder for one job. */
export function jobFolder(folder: string, name: string): string {
  const made = join(folder, name);
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  return made;
}

/** Whether a list of changed files matches the patterns of a workflow: `*` within a folder, `**` across them. */
export function touches(patterns: readonly string[], changed: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const parts = pattern.split(/(\*\*\/|\*\*|\*)/).map((part) => {
      if (part === '**/') return '(?:.*/)?';
      if (part === '**') return '.*';
      return part === '*' ? '[^/]*' : part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
    });
    const whole = new RegExp(`^${parts.join('')}$`);
    return changed.some((path) => whole.test(path));
  });
}

/** A kill waits for no other job, so that it is the first to end. */
export function killsFirst(files: readonly string[]): string[] {
  const isKill = (file: string): number => Number(file.includes('kill'));
  return [...files].sort((a, b) => isKill(b) - isKill(a) || (a < b ? -1 : 1));
}

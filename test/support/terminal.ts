import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { runCli } from '../../src/cli/program.js';
import { FlagkeelError } from '../../src/errors.js';
import { capturedTerminal } from './captured-terminal.js';
import { ConfigRepository, type Files } from './git.js';

/** What came of a command. */
export interface CliRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in this process, on streams that are no terminal. An error that ends the command is its exit code. */
export async function cliRun(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CliRun> {
  const { terminal, texts } = capturedTerminal(environment);
  try {
    const exitCode = await runCli(args, terminal);
    return { exitCode, ...texts };
  } catch (error) {
    if (!(error instanceof FlagkeelError)) throw error;
    const lines = [error.message, ...error.items].map((line) => `${line}\n`);
    return { exitCode: error.exitCode, ...texts, stderr: texts.stderr + lines.join('') };
  }
}

/** A config repository that belongs to the test that runs, and commands over it. */
export interface CommandWorld {
  readonly repository: ConfigRepository;
  readonly write: (files: Files) => void;
  /** The whole path of a file or folder. */
  readonly at: (path: string) => string;
  /** The text of a file. */
  readonly text: (path: string) => string;
  /** Runs a command on the repository, without a service. */
  readonly run: (...args: readonly string[]) => Promise<CliRun>;
}

/** Gives every test of a file, or of a `describe`, a repository of its own with these files, which are not committed. */
export function useCommands(files: Files = {}): CommandWorld {
  let repository: ConfigRepository;
  beforeEach(() => {
    repository = new ConfigRepository();
    repository.write(files);
  });
  afterEach(() => {
    repository[Symbol.dispose]();
  });
  const at = (path: string): string => join(repository.directory, path);
  return {
    get repository() {
      return repository;
    },
    at,
    write: (more) => {
      repository.write(more);
    },
    text: (path) => readFileSync(at(path), 'utf8'),
    run: async (...args) => cliRun([...args, repository.directory]),
  };
}

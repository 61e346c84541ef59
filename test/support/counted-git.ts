import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Commands that go to the server, each with a connection of its own. */
const REMOTE = new Set(['fetch', 'push', 'ls-remote']);

/** A `git` that writes down what it is asked for and is the real one otherwise; for the `PATH` of a program. */
export class CountedGit {
  readonly path: string;
  readonly #log: string;

  /** @param folder its own; made where it is absent. */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#log = join(folder, 'commands');
    this.path = `${folder}:${process.env['PATH'] ?? ''}`;
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const program = join(folder, 'git');
    writeFileSync(program, script(real, this.#log));
    chmodSync(program, 0o755);
  }

  /** Names of the commands since the last call, oldest first. */
  take(): readonly string[] {
    if (!existsSync(this.#log)) return [];
    const commands = readFileSync(this.#log, 'utf8').trimEnd().split('\n');
    writeFileSync(this.#log, '');
    return commands.filter((each) => each !== '');
  }
}

export function isRemote(command: string): boolean {
  return REMOTE.has(command);
}

/** Options before the command may have a value: only `-c` is used so. */
function script(git: string, log: string): string {
  return `#!/bin/sh
value=
for word in "$@"; do
  if [ -n "$value" ]; then value=; continue; fi
  case "$word" in
    -c) value=1 ;;
    -*) ;;
    *) break ;;
  esac
done
echo "$word" >> '${log}'
exec '${git}' "$@"
`;
}

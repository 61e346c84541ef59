import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Programs that are no npm package, and that some tests are nothing without. */
type Program = 'postgresql' | 'sshd' | 'chromium' | 'script' | 'gpg' | 'kubectl';

interface Known {
  /** Any of them is enough. */
  readonly executables: readonly string[];
  /** Where a distribution puts it when that is not in PATH, best first. */
  readonly places: () => readonly string[];
  /** Of Debian; null where that of Debian 12 is too old. Then its tests may be skipped even where none may. */
  readonly package: string | null;
}

const PROGRAMS: Record<Program, Known> = {
  postgresql: { executables: ['initdb'], places: postgresPlaces, package: 'postgresql' },
  sshd: { executables: ['sshd'], places: () => ['/usr/sbin'], package: 'openssh-server' },
  gpg: { executables: ['gpg'], places: () => [], package: 'gnupg' },
  kubectl: { executables: ['kubectl'], places: () => [], package: null },
  script: { executables: ['script'], places: () => [], package: 'bsdutils' },
  chromium: {
    executables: ['chromium', 'chromium-browser', 'google-chrome'],
    places: () => [],
    package: 'chromium',
  },
};

/**
 * Whether a test has to be skipped for want of a program: `describe.skipIf(lacks('postgresql'))(…)`. Says so in one
 * line that names the program and the package that brings it.
 *
 * @throws Error where `FLAGKEEL_TEST_ALL` is `1` and a package brings it: then nothing may be skipped.
 */
export function lacks(program: Program): boolean {
  if (findProgram(program) !== null) return false;
  const { package: name } = PROGRAMS[program];
  const way = name === null ? '' : ` (apt-get install ${name})`;
  const what = `${program} is not installed${way}`;
  if (name !== null && process.env['FLAGKEEL_TEST_ALL'] === '1') {
    throw new Error(
      `cannot run these tests: ${what}, and FLAGKEEL_TEST_ALL=1 lets none be skipped`,
    );
  }
  process.stderr.write(`tests are skipped: ${what}\n`);
  return true;
}

/** Path of the executable; of `postgresql` that of `initdb`, the others lie beside it. Null: not installed. */
export function findProgram(program: Program): string | null {
  const known = PROGRAMS[program];
  const inPath = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  const directories = [...known.places(), ...inPath];
  const candidates = directories.flatMap((directory) =>
    known.executables.map((name) => join(directory, name)),
  );
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Debian keeps several versions side by side, and none of their server programs in PATH. Newest first. */
function postgresPlaces(): string[] {
  const root = '/usr/lib/postgresql';
  try {
    return readdirSync(root)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(root, version, 'bin'));
  } catch {
    return [];
  }
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT, type ExitCode } from '../../errors.js';
import { openCheckout, type Checkout } from '../../git/checkout.js';
import { directoryTree } from '../../git/trees.js';
import { FILE_KINDS } from '../../model/ref.js';
import { rewriteFile } from '../../report/output.js';
import { clean } from '../../report/sanitize.js';
import { diagnosticsText } from '../../report/text/diagnostics.js';
import { formattedText } from '../../specs/edit/format.js';
import { loadFiles } from '../../specs/parse/load-files.js';
import { forEachDirectory, configDirectoryOf, isNamed } from '../directories.js';
import type { DeclareCommand } from '../command.js';
import { commonOptions, type CommonOptions } from '../options.js';
import { changedCodeOwners } from '../../specs/edit/code-owners.js';
import { ending, type Screen } from '../terminal.js';

interface FmtOptions extends CommonOptions {
  readonly check?: boolean;
}

export const declareFmt: DeclareCommand = (command, invocation) => {
  command
    .argument('[directory...]', 'config repositories, or files and folders of them', ['.'])
    .option('--check', 'write nothing; exit 2 where a file would change');
  commonOptions(command).action(ending(format, invocation));
};

/** Leaves a file that is no valid spec as it is. May be repeated: the second time nothing changes. */
async function format(
  directories: readonly string[],
  options: FmtOptions,
  screen: Screen,
): Promise<ExitCode> {
  return forEachDirectory(
    directories,
    async (directory) => formatDirectory(directory, options, screen),
    async (results) => {
      const documents = results.map(({ directory, changed }) => ({ directory, changed }));
      const lines = results.flatMap(({ changed }) => changed.map((path) => `${clean(path)}\n`));
      await screen.print({ directories: documents }, () => lines.join(''));
    },
  );
}

async function formatDirectory(
  path: string,
  { check = false }: FmtOptions,
  screen: Screen,
): Promise<{ directory: string; exitCode: ExitCode; changed: readonly string[] }> {
  const named = await configDirectoryOf(path);
  const { directory } = named;
  const repository = await repositoryOf(directory);
  const loaded = await loadFiles(await directoryTree(directory));
  // Warnings are no matter of the form of a file.
  const errors = loaded.diagnostics.filter(
    ({ location, severity }) => severity === 'error' && isNamed(location.file, named),
  );
  const isWrong = errors.length > 0;
  if (isWrong) screen.noteLines(diagnosticsText(errors, { color: false }).trimEnd());
  const changed: string[] = [];
  for (const kind of FILE_KINDS) {
    const valid = loaded.files[kind].filter((each) => each.valid && isNamed(each.path, named));
    for (const file of valid) {
      const { text } = file.source;
      const formatted = formattedText(kind, text);
      if (formatted === text) continue;
      changed.push(file.path);
      if (check) continue;
      await rewriteFile(join(directory, file.path), formatted);
    }
  }
  // A file that cannot be read may have an owner.
  const hasOwners = !isWrong && named.within === null && repository !== null;
  const onDisk = async (file: string): Promise<string | null> =>
    readFile(join(repository?.root ?? '', file), 'utf8').catch(() => null);
  const owners = hasOwners ? await changedCodeOwners(repository.prefix, loaded, onDisk) : null;
  if (repository && owners) {
    changed.push(owners.path);
    if (!check) await rewriteFile(join(repository.root, owners.path), owners.text);
  }
  const done = check && changed.length > 0 ? EXIT.changes : EXIT.ok;
  const exitCode = isWrong ? EXIT.invalidSpecs : done;
  return { directory: path, exitCode, changed: changed.sort() };
}

async function repositoryOf(directory: string): Promise<Checkout['repository']> {
  const checkout = await openCheckout(directory);
  await checkout.close();
  return checkout.repository;
}

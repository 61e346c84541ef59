import { join } from 'node:path';
import { EXIT, type ExitCode } from '../../errors.js';
import { openCheckout } from '../../git/checkout.js';
import { directoryTree } from '../../git/directory-tree.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import { clean } from '../../report/sanitize.js';
import { diagnosticsText } from '../../report/text/diagnostics.js';
import { withCodeOwners } from '../../specs/edit/code-owners.js';
import { formattedKeys, formattedSpec } from '../../specs/edit/format.js';
import { loadFiles, type LoadedFiles } from '../../specs/parse/load-files.js';
import type { SpecFile, FileKind } from '../../specs/parse/parse-file.js';
import { forEachDirectory, configDirectoryOf, isNamed } from '../directories.js';
import type { DeclareCommand } from '../command.js';
import { commonOptions, type CommonOptions } from '../options.js';
import { readCodeOwners } from '../right-specs.js';
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

interface Formatted {
  /** As it was named. */
  readonly directory: string;
  readonly exitCode: ExitCode;
  /** Files that were changed or, with `--check`, would be; relative to the directory. */
  readonly changed: readonly string[];
}

/**
 * Formats the specs of config repositories where they lie on disk. A file that is no valid spec is left as it is, and what
 * is wrong with it is said. Of a config repository nothing beside the file or folder that was named is touched. May be repeated: the second time nothing changes.
 *
 * @returns 3 where a file is wrong; with `--check` 2 where one would change; 0 otherwise.
 */
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
): Promise<Formatted> {
  const named = await configDirectoryOf(path);
  const { directory } = named;
  const loaded = await loadFiles(await directoryTree(directory));
  const diagnostics = loaded.diagnostics.filter(({ location }) => isNamed(location.file, named));
  noteErrors(diagnostics, screen);
  const changed: string[] = [];
  for (const [kind, ofKind] of loaded.files) {
    for (const file of ofKind.filter((each) => isNamed(each.path, named))) {
      const { text } = file.parsed.source;
      const formatted = formattedText(kind, file);
      if (formatted === text) continue;
      changed.push(file.path);
      if (check) continue;
      await screen.writeFile(join(directory, file.path), formatted);
    }
  }
  const isWrong = diagnostics.some(({ severity }) => severity === 'error');
  // A file that cannot be read may have an owner.
  const owners = isWrong || named.within !== null ? null : await newCodeOwners(directory, loaded);
  if (owners !== null) {
    changed.push(owners.path);
    if (!check) await screen.writeFile(owners.file, owners.text);
  }
  const exitCode = isWrong
    ? EXIT.invalidSpecs
    : check && changed.length > 0
      ? EXIT.changes
      : EXIT.ok;
  return { directory: path, exitCode, changed: changed.sort() };
}

/** The CODEOWNERS of the repository as it should be; null without git or such a file, or if it is so already. */
async function newCodeOwners(
  directory: string,
  loaded: LoadedFiles,
): Promise<{ path: string; file: string; text: string } | null> {
  const checkout = await openCheckout(directory);
  await checkout.close();
  if (checkout.repository === null) return null;
  const { root, prefix } = checkout.repository;
  const found = await readCodeOwners(root);
  if (found === null) return null;
  const text = withCodeOwners(found.text, prefix, loaded);
  return text === found.text ? null : { path: found.path, file: join(root, found.path), text };
}

/** Notes errors alone: warnings are no matter of the form of a file. */
function noteErrors(diagnostics: readonly Diagnostic[], screen: Screen): void {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return;
  screen.note(diagnosticsText(errors, { color: false }).trimEnd());
}

/** The text as it stands where the file is wrong, or of a kind that has no other form. */
function formattedText(kind: FileKind, { valid, parsed }: SpecFile): string {
  const { text } = parsed.source;
  if (!valid || kind === 'identities-csv') return text;
  return kind === 'keys' ? formattedKeys(text) : formattedSpec(kind, text);
}

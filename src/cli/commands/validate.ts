import { EXIT, FlagkeelError, type ExitCode } from '../../errors.js';
import { objectsOf, type Desired } from '../../model/desired.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import { NAMED } from '../../model/ref.js';
import { diagnosticsText } from '../../report/text/diagnostics.js';
import { clean } from '../../report/sanitize.js';
import { errorText } from '../../report/text/error.js';
import { plural } from '../../report/values.js';
import {
  diagnosticFindings,
  junit,
  sarif,
  underPrefix,
  workflowCommands,
  type Finding,
} from '../../report/findings.js';
import { readCatalog } from '../../admin-api/workspace.js';
import { lint, missingOnService, type LintOptions } from '../../lint/lint.js';
import { inOrder, readWithParts, type SpecParts } from '../../specs/read-specs.js';
import { filesBeside, commitTree } from '../../git/trees.js';
import { resolveRevision, type Checkout } from '../../git/checkout.js';
import { fileAges, removedNames } from '../../git/log.js';
import { namesInCode } from '../../git/search.js';
import { openSource, type Source } from '../../git/spec-source.js';
import { straysOf } from '../../specs/parse/load-files.js';
import { SpecCache } from '../../specs/cache.js';
import { packageVersion } from '../../platform/package-files.js';
import {
  combinedResult,
  forEachDirectory,
  type DirectoryResult,
  configDirectoryOf,
  isNamed,
} from '../directories.js';
import type { DeclareCommand } from '../command.js';
import {
  askService,
  onlineOptions,
  refuseWithoutOnline,
  warnIfShallow,
  type OnlineOptions,
} from '../right-specs.js';
import { commonOptions, type CommonOptions } from '../options.js';
import { ending, type Screen } from '../terminal.js';

const FORMATS = ['text', 'json', 'github', 'sarif', 'junit'] as const;

interface ValidateOptions extends Omit<CommonOptions, 'format'>, OnlineOptions {
  readonly format?: (typeof FORMATS)[number];
}

export const declareValidate: DeclareCommand = (command, invocation) => {
  command.argument('[directory...]', 'config repositories, or files and folders of them', ['.']);
  onlineOptions(command, 'whether it has what the specs name');
  commonOptions(command, FORMATS).action(ending(validate, invocation));
};

/** Of a file or a folder the whole repository is checked, and only the problems that lie in it are printed. */
async function validate(
  directories: readonly string[],
  options: ValidateOptions,
  screen: Screen,
): Promise<ExitCode> {
  refuseWithoutOnline(options);
  return forEachDirectory(
    directories,
    async (directory) => check(directory, options, screen),
    async (checked) => screen.result(rendered(checked, options.format)),
  );
}

interface Checked extends DirectoryResult {
  /** For CI; files are seen from the top of the repository. */
  readonly findings: readonly Finding[];
}

async function check(
  directory: string,
  options: ValidateOptions,
  screen: Screen,
): Promise<Checked> {
  try {
    const named = await configDirectoryOf(directory);
    await using source = await openSource(named.directory, { workingTree: true, sameAsHead: true });
    const warnings = source.revision.dirty ? source.warnings : [];
    for (const warning of warnings) screen.note(`warning: ${warning}`);
    const found = await findings(source, named.directory, options, screen);
    const { diagnostics: all, desired, lacksEnvironment } = found;
    const prefix = source.checkout.repository?.prefix ?? '';
    const diagnostics = all.filter(({ location }) => isNamed(location.file, named));
    const errors = all.filter(isError);
    const elsewhere = errors.length - diagnostics.filter(isError).length;
    if (elsewhere > 0) {
      screen.note(
        `${plural(elsewhere, 'error')} in other files, which keep all of it from being valid`,
      );
    }
    const isValid = desired !== null && errors.length === 0;
    const invalid = lacksEnvironment ? EXIT.unreadable : EXIT.invalidSpecs;
    return {
      directory,
      exitCode: isValid ? EXIT.ok : invalid,
      text: `${diagnosticsText(diagnostics, screen)}${isValid ? summaryOf(desired) : ''}`,
      document: () => ({ directory, valid: isValid, diagnostics }),
      findings: underPrefix(prefix, diagnosticFindings(diagnostics)),
    };
  } catch (error) {
    if (!(error instanceof FlagkeelError)) throw error;
    return unreadable(directory, error);
  }
}

function summaryOf(desired: Desired): string {
  const parts = [
    ...NAMED.map((kind) => plural(objectsOf(desired, kind).size, kind)),
    plural(desired.config.environments.length, 'environment'),
  ];
  return `valid: ${parts.join(', ')}\n`;
}

function unreadable(directory: string, error: FlagkeelError): Checked {
  const text = errorText(error);
  const message = clean(text);
  return {
    directory,
    exitCode: error.exitCode,
    text,
    document: () => ({ directory, valid: false, diagnostics: [], error: text.trim() }),
    findings: [
      { level: 'error', rule: 'unreadable', place: null, subject: clean(directory), message },
    ],
  };
}

async function findings(
  source: Source,
  directory: string,
  options: ValidateOptions,
  screen: Screen,
) {
  const today = new Date().toISOString().slice(0, 10);
  const strays = straysOf(source.tree, await filesBeside(source.checkout.directory));
  const memory = new SpecCache();
  const { result, parts } = await readWithParts(source.tree, memory);
  const online =
    options.online === true && result.ok
      ? await missing({ directory, parts, ...result }, options, screen)
      : { diagnostics: [], lacksEnvironment: false };
  const beside = await besideSpecs(source, parts, { memory, screen });
  const diagnostics = inOrder([
    ...(result.ok ? result.warnings : result.diagnostics),
    ...online.diagnostics,
    ...lint(parts, { today, strays, before: new Map(), ...beside }),
  ]);
  const desired = result.ok ? result.desired : null;
  return { diagnostics, desired, lacksEnvironment: online.lacksEnvironment };
}

/** What rules have to know of earlier commits and of code, which takes a while: only if flagkeel.yaml has such a rule. */
async function besideSpecs(
  source: Source,
  parts: SpecParts,
  { memory, screen }: { memory: SpecCache; screen: Screen },
): Promise<Pick<LintOptions, 'ages' | 'removals' | 'inCode' | 'before'>> {
  const { checkout } = source;
  const { staleAfter, reserveNames, codeReferences } = parts.specs.config?.lint ?? {};
  const names = new Set(parts.flags.map(({ name }) => name));
  const looksBack = staleAfter !== undefined || reserveNames === true || comparesCommits(parts);
  if (looksBack) warnIfShallow(checkout, screen);
  return {
    ...(codeReferences && { inCode: await namesInCode(checkout, codeReferences, names) }),
    ...(staleAfter !== undefined && { ages: await fileAges(checkout) }),
    ...(reserveNames === true && { removals: await removedNames(checkout) }),
    ...(comparesCommits(parts) && { before: await flagsBefore(source, memory) }),
  };
}

function comparesCommits({ specs: { config } }: SpecParts): boolean {
  const levels = config?.lint?.levels ?? {};
  const { 'default-while-killed': defaults, 'treatments-reordered': order } = levels;
  return (defaults ?? 'off') !== 'off' || (order ?? 'off') !== 'off';
}

/** Flags of HEAD if the files differ from it, else of its first parent, the target branch of a merge that CI checks out. */
async function flagsBefore(
  { checkout, revision }: Source,
  memory: SpecCache,
): Promise<NonNullable<LintOptions['before']>> {
  const { repository, head } = checkout;
  if (repository === null || head === null) return new Map();
  const commit = revision.dirty ? head : await firstParent(checkout, head);
  if (commit === null) return new Map();
  const { parts } = await readWithParts(await commitTree(checkout, commit), memory);
  return new Map(parts.flags.map((flag) => [flag.name, flag]));
}

/** Null if there is none, or the clone is too shallow to have it. */
async function firstParent(checkout: Checkout, commit: string): Promise<string | null> {
  try {
    return await resolveRevision(checkout, `${commit}^1`);
  } catch (error) {
    if (error instanceof FlagkeelError && error.code === 'GIT') return null;
    throw error;
  }
}

async function missing(
  specs: { readonly directory: string; readonly parts: SpecParts; readonly desired: Desired },
  options: OnlineOptions,
  screen: Screen,
) {
  const { references, workspace, environments } = specs.desired.config;
  return askService(specs, options, screen, async (reader) => {
    const at = await readCatalog(reader, workspace);
    // Loaded on use, like what speaks to a service.
    const { namesOnService } = await import('../../admin-api/kinds.js');
    const names = async (kind: 'segment' | 'flag', used: readonly unknown[]) =>
      used.length > 0 ? namesOnService(reader, at, kind) : null;
    const segments = await names('segment', references.segments);
    const flags = await names('flag', references.flags);
    const diagnostics = missingOnService(specs.parts, {
      workspace: at.workspace.name,
      environments: at.environments,
      trafficTypes: at.trafficTypes,
      rolloutStatuses: at.rolloutStatuses?.map((each) => each.name) ?? null,
      segments,
      flags,
    });
    const known = new Set(at.environments.flatMap((each) => [each.id, each.name]));
    return { diagnostics, lacksEnvironment: environments.some((each) => !known.has(each.name)) };
  });
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

function rendered(checked: readonly Checked[], format: ValidateOptions['format']): string {
  const findings = checked.flatMap((each) => each.findings);
  if (format === 'github') return workflowCommands(findings);
  if (format === 'sarif') return sarif(findings, packageVersion());
  if (format === 'junit') return junit(findings);
  return combinedResult(checked, format);
}

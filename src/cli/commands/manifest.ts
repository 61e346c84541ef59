import { isSwitch, openFeatureValue } from '../../model/flag/flag.js';
import { clean } from '../../report/sanitize.js';
import type { ResolvedFlag } from '../../specs/resolve/flags.js';
import type { DeclareCommand } from '../command.js';
import { readRightSpecs } from '../right-specs.js';
import { ending, prettyJson, type Screen } from '../terminal.js';

/** Editors and the command line of OpenFeature know the form by this address. */
const SCHEMA =
  'https://raw.githubusercontent.com/open-feature/cli/refs/heads/main/schema/v0/flag-manifest.json';

export const declareManifest: DeclareCommand = (command, invocation) => {
  command
    .argument('[directory]', 'config repository', '.')
    .option('--output <file>', 'write the manifest to a file')
    .action(ending(manifest, invocation));
};

async function manifest(directory: string, _: object, screen: Screen): Promise<void> {
  const { desired, parts } = await readRightSpecs(directory, screen);
  const resolved = new Map(parts.flags.map((flag) => [flag.name, flag]));
  const flags = [...desired.flags.keys()].flatMap((name) => {
    const flag = resolved.get(name);
    return flag ? [[name, manifestFlag(flag, screen)] as const] : [];
  });
  await screen.result(prettyJson({ $schema: SCHEMA, flags: Object.fromEntries(flags) }));
}

/** A boolean where every environment gives true or false, because clients of all environments share one type. */
function manifestFlag({ name, spec, environments }: ResolvedFlag, screen: Screen): object {
  const { defaultTreatment, description } = spec;
  const own = Object.keys(spec.treatments);
  const lists = [own, ...[...environments.values()].map(({ treatments }) => treatments)];
  const isBoolean = lists.every(isSwitch);
  if (!isBoolean && lists.some(isSwitch)) {
    const words = 'is on or off in some places and not in others; the manifest has it as a string';
    screen.note(`warning: flag/${clean(name)} ${words}`);
  }
  const defaultValue = isBoolean ? openFeatureValue(defaultTreatment, own) : defaultTreatment;
  return {
    flagType: typeof defaultValue,
    defaultValue,
    ...(description !== undefined && { description: commented(description) }),
  };
}

/** On one line, and without the end of a comment: generators copy it into comments of code. */
function commented(description: string): string {
  return description.replaceAll(/\s+/g, ' ').trim().replaceAll('*/', '* /');
}

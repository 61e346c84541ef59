import { lint } from '../../../src/lint/lint.js';
import { straysOf } from '../../../src/specs/parse/load-files.js';
import { readWithParts } from '../../../src/specs/read-specs.js';
import { treeOf } from '../../support/spec-tree.js';

export const TODAY = '2026-11-22';

/** Two environments, the second of them protected, and what is said of lint. */
export function config(lintText = ''): string {
  const setting = lintText === '' ? '' : `lint: ${lintText}\n`;
  return `workspace: Default
environments: { staging: {}, production: { protected: true } }
defaults: { trafficType: user }
${setting}`;
}

/** A flag without anything to find, but for what is put into it. */
export function flag(
  name: string,
  { fields = '', production = '' }: { fields?: string; production?: string } = {},
): string {
  return `flag: ${name}
${fields}treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  production:
${production}    defaultRule: { "on": 10, "off": rest }
`;
}

/** The rules of a flag, each written on a line: conditions and, where it matters, what is served. */
export function ruled(...rules: readonly string[]): Record<string, string> {
  const lines = rules.map((rule) => {
    const [conditions = '', serve = '"on"'] = rule.split(' => ');
    return `      - { if: ${conditions}, serve: ${serve} }\n`;
  });
  return {
    'flags/pay.yaml': flag('pay', { production: `    rules:\n${lines.join('')}` }),
    'segments/staff.yaml': segment('staff', 'u1'),
    'segments/nobody.yaml': segment('nobody', ''),
    'flagkeel.yaml': config('{ levels: { unused-segment: off } }'),
  };
}

/** A flag of three treatments in this order, of which `off` is the default one, and what it serves in production. */
export function threeWay(treatments: string, sizes: string, members = ''): string {
  return `flag: pay
treatments: { ${treatments.replaceAll('",', '": "",')}: "" }
defaultTreatment: "off"
environments:
  production: { ${members}defaultRule: { ${sizes} } }
`;
}

/** A segment of these keys in production. */
export function segment(name: string, keys: string, fields = ''): string {
  return `segment: ${name}\n${fields}environments: { production: { keys: [${keys}] } }\n`;
}

/** Code asks for one flag. */
const IN_CODE = { found: new Set(['pay']), refused: [] };

/**
 * What lint says of a repository that nobody touched for 120 days and from which `gone` was removed: one line for each finding.
 *
 * @param files `HEAD:path` is what the last commit has there.
 */
export async function lintLines(
  files: Readonly<Record<string, string>>,
  beside: readonly { readonly path: string; readonly text: string }[] = [],
): Promise<string[]> {
  const all = Object.entries({ 'flagkeel.yaml': config(), ...files });
  const tree = treeOf(Object.fromEntries(all.filter(([path]) => !path.startsWith('HEAD:'))));
  const committed = all.map(([path, text]) => [path.replace('HEAD:', ''), text] as const);
  const earlier = await readWithParts(treeOf(Object.fromEntries(committed)));
  const before = new Map(earlier.parts.flags.map((each) => [each.name, each]));
  const { result, parts } = await readWithParts(tree);
  if (!result.ok) throw new Error(`the fixture is invalid: ${JSON.stringify(result.diagnostics)}`);
  const days = { addedOn: '2026-01-01', changedOn: '2026-07-25' };
  const ages = new Map(tree.list().map(({ path }) => [path, days]));
  const removals = new Map([['gone.yaml', '2026-03-01']]);
  const strays = straysOf(tree, beside);
  return lint(parts, { today: TODAY, strays, ages, removals, before, inCode: IN_CODE }).map(
    ({ severity, code, location: { file, line, column }, message }) =>
      `${file}:${line}:${column} ${severity}[${code}] ${message}`,
  );
}

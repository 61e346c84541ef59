import { startPostgres } from '../support/postgres.js';
import { planting, tested, type Planted } from './planting.js';

/*
 * Builds violations of the contract into the administration service, one at a time, that leave the shape of every answer as it is, and shows
 * for each by how many statements it is noticed; the service as it stands has to pass. They stand side by side in one run.
 *
 * Usage: `test/mutation/planted-violations.ts [--strict] [--postgres]`.
 */
const NONE = 'nothing';

/** What a review built in by hand, and no test of that time noticed. */
const VIOLATIONS: readonly Planted[] = [
  [
    'workspaces that pass over limit',
    'service/store/workspaces.ts',
    'page.offset + page.limit',
    'undefined',
  ],
  [
    'segments that pass over limit',
    'service/store/segments.ts',
    ".where('segments.workspace_id', '=', workspaceId)\n    .orderBy('segments.sort_name')\n    .orderBy('segments.name')\n    .limit(page.limit)",
    ".where('segments.workspace_id', '=', workspaceId)\n    .orderBy('segments.sort_name')\n    .orderBy('segments.name')\n    .limit(1_000_000)",
  ],
  [
    'keys that pass over limit',
    'service/store/keys.ts',
    '.slice(skipped, skipped + limit)',
    '.slice(skipped)',
  ],
  [
    'a title that is not needed',
    'service/rules/note.ts',
    "note.comment !== null && (note.title !== null || needed === 'comment')",
    'note.comment !== null',
  ],
  ['sizes of any sum', 'service/rules/definition.ts', 'if (sum !== 100)', 'if (sum < 0)'],
  [
    'an allocation of any number',
    'service/rules/definition-schema.ts',
    "trafficAllocation: { type: 'integer', minimum: 0, maximum: 100 },",
    "trafficAllocation: { type: 'number' },",
  ],
  [
    'a default treatment of any name',
    'service/rules/definition.ts',
    "checkTreatmentExists(names, body.defaultTreatment, 'defaultTreatment');",
    '',
  ],
  [
    'a removal of keys that removes nothing',
    'service/store/keys.ts',
    'const after = changedKeys(given, held).added;',
    'const after = held;',
  ],
  [
    'an unknown rollout status that is passed over',
    'service/routes/flags.ts',
    "throw badRequest(`There is no rollout status ${Object.values(wanted).join(' ')}`);",
    'return {};',
  ],
];

function project(name: string, plugins: ReturnType<typeof planting>[]) {
  const include = ['test/contract/statements.test.ts'];
  return { plugins, test: { name, include, testTimeout: 60_000 } };
}

const server = process.argv.includes('--postgres') ? await startPostgres() : undefined;
if (server !== undefined) process.env['TEST_POSTGRES_SERVER'] = server.url;
if (process.argv.includes('--strict')) process.env['TEST_SERVICE_STRICT'] = '1';
try {
  const modules = await tested([
    project(NONE, []),
    ...VIOLATIONS.map((each) => project(each[0], [planting(each)])),
  ]);
  const failed = (name: string): number =>
    modules
      .filter((module) => module.project.name === name)
      .flatMap((module) => [...module.children.allTests('failed')]).length;
  for (const name of [NONE, ...VIOLATIONS.map(([name]) => name)]) {
    process.stdout.write(`${String(failed(name)).padStart(3)} failed with ${name}\n`);
  }
  const isRight = failed(NONE) === 0 && VIOLATIONS.every(([name]) => failed(name) > 0);
  process.exitCode = isRight ? 0 : 1;
} finally {
  await server?.stop();
}

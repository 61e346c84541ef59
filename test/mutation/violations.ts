/** A violation of the contract, as changes of sources below `src/service`. */
export interface Violation {
  readonly name: string;
  readonly changes: readonly Change[];
}

/** Text that stands in a file once, and what it becomes. */
interface Change {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const one = (name: string, file: string, from: string, to: string): Violation => ({
  name,
  changes: [{ file, from, to }],
});

/** What a review built in by hand, and no test of that time noticed. */
export const VIOLATIONS: readonly Violation[] = [
  one(
    'workspaces that pass over limit',
    'store/workspaces.ts',
    'page.offset + page.limit',
    'undefined',
  ),
  one(
    'segments that pass over limit',
    'store/segments.ts',
    ".where('segments.workspace_id', '=', workspaceId)\n    .orderBy('segments.sort_name')\n    .orderBy('segments.name')\n    .limit(page.limit)",
    ".where('segments.workspace_id', '=', workspaceId)\n    .orderBy('segments.sort_name')\n    .orderBy('segments.name')\n    .limit(1_000_000)",
  ),
  one(
    'keys that pass over limit',
    'store/segments.ts',
    'order by key limit ${page.limit}',
    'order by key limit ${1_000_000}',
  ),
  one(
    'a title that is not needed',
    'rules/note.ts',
    "note.comment !== null && (note.title !== null || needed === 'comment')",
    'note.comment !== null',
  ),
  one('sizes of any sum', 'rules/definition.ts', 'if (sum !== 100)', 'if (sum < 0)'),
  {
    name: 'an allocation of any number',
    changes: [
      {
        file: 'rules/definition-schema.ts',
        from: "trafficAllocation: { type: 'integer', minimum: 0, maximum: 100 },\n    rules: {\n",
        to: "trafficAllocation: { type: 'number' },\n    rules: {\n",
      },
      {
        file: 'rules/definition-schema.ts',
        from: "trafficAllocation: { type: 'integer', minimum: 0, maximum: 100 },\n    rules: { type: 'array', maxItems",
        to: "trafficAllocation: { type: 'number' },\n    rules: { type: 'array', maxItems",
      },
    ],
  },
  one(
    'a default treatment of any name',
    'rules/definition.ts',
    "checkTreatmentExists(names, body.defaultTreatment, 'defaultTreatment');",
    '',
  ),
  one(
    'a removal of keys that removes nothing',
    'store/keys.ts',
    'const after = changedKeys(given, held).added;',
    'const after = held;',
  ),
  one(
    'an unknown rollout status that is passed over',
    'routes/flags.ts',
    "throw badRequest(`There is no rollout status ${Object.values(wanted).join(' ')}`);",
    'return {};',
  ),
];

import { expect, it } from 'vitest';
import { projectText } from './page.js';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly description?: string;
  readonly $ref?: string;
}

/** Those of documents that the program prints; `specs/parse/schemas.test.ts` has those of files. */
it.each(['plan', 'status', 'event', 'help'])('the schema of %s describes every field', (name) => {
  const schema = JSON.parse(projectText(`schemas/${name}.schema.json`)) as {
    readonly $defs?: Readonly<Record<string, Node>>;
  };
  const isDescribed = ({ description, $ref = '' }: Node): boolean =>
    (description ?? schema.$defs?.[$ref.replace('#/$defs/', '')]?.description) !== undefined;
  const bareIn = (at: unknown, path: string): string[] => {
    if (typeof at !== 'object' || at === null) return [];
    const fields = Object.entries((at as Node).properties ?? {});
    return [
      ...fields.filter(([, field]) => !isDescribed(field)).map(([field]) => `${path}/${field}`),
      ...Object.entries(at).flatMap(([member, each]) => bareIn(each, `${path}/${member}`)),
    ];
  };

  expect(bareIn(schema, '')).toEqual([]);
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCHEMA_NAMES } from '../src/specs/parse/schemas.js';
import { specTypes } from './spec-types.js';

/** `npm run generate`: writes the types of the files that users write, and of plans. */
for (const name of [...SCHEMA_NAMES, 'plan']) {
  const file = join(import.meta.dirname, '..', 'src/generated', `${name}.schema.d.ts`);
  writeFileSync(file, await specTypes(name));
}

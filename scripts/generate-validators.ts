import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VALIDATORS } from './validators-code.js';

/** A part of `npm run build`: writes the code that holds values against the schemas of specs and plans. */
for (const [file, codeOf] of Object.entries(VALIDATORS)) {
  writeFileSync(join(import.meta.dirname, '..', file), codeOf());
}

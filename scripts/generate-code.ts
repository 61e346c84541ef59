import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GENERATED } from './schema-code.js';

const PROJECT = join(import.meta.dirname, '..');

/** A part of `npm run build`: writes the types of specs and plans, and the code that validates them, from `schemas/`. */
mkdirSync(join(PROJECT, 'src/generated'), { recursive: true });
for (const [file, codeOf] of Object.entries(GENERATED)) {
  writeFileSync(join(PROJECT, file), await codeOf());
}

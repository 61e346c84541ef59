import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { validatorsCode, VALIDATORS_FILE } from './validators-code.js';

/** A part of `npm run build`: writes the code that holds values against the schemas of specs. */
writeFileSync(join(import.meta.dirname, '..', VALIDATORS_FILE), validatorsCode());

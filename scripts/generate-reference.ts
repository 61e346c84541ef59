import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { referencePage, REFERENCE_FILE } from './reference-page.js';

/** `npm run generate`: writes the page of fields from the schemas. */
writeFileSync(join(import.meta.dirname, '..', REFERENCE_FILE), await referencePage());

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsPage, COMMANDS_FILE } from './commands-page.js';
import { referencePage, REFERENCE_FILE } from './reference-page.js';

/** `npm run generate`: writes the page of fields from the schemas, and the page of commands from their declarations. */
const project = join(import.meta.dirname, '..');
writeFileSync(join(project, REFERENCE_FILE), await referencePage());
writeFileSync(join(project, COMMANDS_FILE), await commandsPage());

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { operatorSettings } from '../../../src/compose/settings.js';
import { makeDirectory } from '../../support/git.js';

it('says why the file of a key cannot be read', () => {
  const directory = makeDirectory();
  const missing = join(directory, 'key');
  const keyOf = (file: string) => () => operatorSettings({ FLAGKEEL_API_KEY_FILE: file }).apiKey();

  expect(keyOf(missing)).toThrow(`cannot read the Admin API key from "${missing}": ENOENT`);
  expect(keyOf(directory)).toThrow('EISDIR');
});

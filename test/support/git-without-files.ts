import { openSync } from 'node:fs';
import { openGit, runGit } from '../../src/git/git.js';
import { ObjectReader } from '../../src/git/objects.js';

/** Prints what reading and writing through git end with in a process that cannot open another file. */
const git = openGit(process.argv[2] ?? '');
const ends = async (work: Promise<unknown>): Promise<string> => work.then(String, String);
await runGit(git, { args: ['--version'], purpose: 'load the library' });
try {
  for (;;) openSync('/dev/null', 'r');
} catch {
  const written = await ends(runGit(git, { args: ['pack-refs'], purpose: 'pack', writes: true }));
  const read = await ends(new ObjectReader(git).header('HEAD'));
  process.stdout.write(`${written}\n${read}\n`);
}

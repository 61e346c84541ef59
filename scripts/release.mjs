// Prepares a release of this checkout: writes into package.json where the package comes from, and prints what is new in it,
// from the changelog. Fails where tag, version and changelog do not agree.
//
//   node scripts/release.mjs v0.1.0 https://github.com/somebody/flagkeel
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [tag = '', home = '', folder = '.'] = process.argv.slice(2);
const manifestFile = join(folder, 'package.json');
const manifest = JSON.parse(readFileSync(manifestFile, 'utf8'));
if (tag !== `v${manifest.version}`) {
  throw new Error(`the tag is ${tag}, and package.json has version ${manifest.version}`);
}
const sections = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8').split(/^## /m);
const section = sections.find((each) => each.split('\n')[0]?.split(' ')[0] === manifest.version);
if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${manifest.version}"`);

const { license, ...rest } = manifest;
const place = {
  repository: { type: 'git', url: `git+${home}.git` },
  homepage: `${home}#readme`,
  bugs: `${home}/issues`,
};
writeFileSync(manifestFile, `${JSON.stringify({ ...rest, license, ...place }, null, 2)}\n`);
process.stdout.write(section.slice(section.indexOf('\n') + 1).trimStart());

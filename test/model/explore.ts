import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Explorer, type Explored } from './explorer.js';
import { PARTS, type PartName } from './parts.js';
import { PLANTED, type PlantedName } from './planted.js';

/** `npm run test:model`: explores the parts of a small world, and prints a line for each. */

const { values } = parseArgs({
  options: {
    part: { type: 'string', multiple: true },
    depth: { type: 'string', default: '30' },
    seconds: { type: 'string', default: '200' },
    transitions: { type: 'string', default: 'Infinity' },
    megabytes: { type: 'string', default: '4000' },
    progress: { type: 'string' },
    planted: { type: 'string' },
  },
});

const parts = chosen(values.part ?? Object.keys(PARTS), PARTS);
const [planted] = values.planted === undefined ? [] : chosen([values.planted], PLANTED);
const limits = {
  depth: Number(values.depth),
  seconds: Number(values.seconds),
  transitions: Number(values.transitions),
  megabytes: Number(values.megabytes),
};

let hasBroken = false;
for (const part of parts) {
  const explorer = new Explorer(PARTS[part], planted === undefined ? {} : PLANTED[planted]);
  const onProgress = (soFar: Explored): void => {
    if (values.progress !== undefined) writeFileSync(values.progress, `${lineOf(part, soFar)}\n`);
  };
  const found = await explorer.explore({ ...limits, onProgress });
  process.stdout.write(`${lineOf(part, found)}\n`);
  if (found.broken) process.stdout.write(testOf(part, planted, found.broken));
  hasBroken ||= found.broken !== null;
}
process.exitCode = hasBroken === (planted === undefined) ? 1 : 0;

function chosen<N extends PartName | PlantedName>(
  names: readonly string[],
  known: Readonly<Record<N, unknown>>,
): N[] {
  return names.map((name) => {
    if (Object.hasOwn(known, name)) return name as N;
    throw new Error(`"${name}" is none of ${Object.keys(known).join(', ')}`);
  });
}

function lineOf(part: PartName, found: Explored): string {
  const { states, transitions, runs, asked, evaluations, depth, isClosed, seconds } = found;
  const counts = [
    `${states} states (${found.expanded} expanded)`,
    `${transitions} transitions (${runs} of them runs)`,
    `${asked} results of runs, of ${evaluations} runs of the program`,
    isClosed ? 'nothing new can be reached' : `all of depth ${depth}`,
    `${seconds.toFixed(0)} s, ${found.coreSeconds.toFixed(0)} s of a core`,
    `${Math.round(process.memoryUsage.rss() / 2 ** 20)} MB`,
  ];
  return `${part}: ${counts.join(', ')}`;
}

/** The story as a test that can be pasted. */
function testOf(
  part: PartName,
  name: PlantedName | undefined,
  { story, breaches }: NonNullable<Explored['broken']>,
): string {
  const told = story.map((each) => `      '${each}',\n`).join('');
  const wrong = name === undefined ? '' : `, PLANTED['${name}']`;
  return `
  // ${breaches.join('; ')}
  it('…', async () => {
    const story = [
${told}    ];
    expect(await retold(PARTS['${part}'], story${wrong})).toEqual([]);
  });
`;
}

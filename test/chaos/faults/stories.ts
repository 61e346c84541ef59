import { randomFrom } from '../choices.js';

/** One commit: what it writes and takes away. */
export interface Step {
  readonly message: string;
  readonly files: Readonly<Record<string, string>>;
  readonly gone: readonly string[];
}

const CONFIG = `workspace: Default
environments: { staging: {}, production: { protected: false } }
defaults: { trafficType: user }
prune: true
guards: { maxDeletes: 100, maxDeletePercent: 100, maxKeyRemovals: 1000, maxKeyRemovalPercent: 100 }
`;

/** Commits that make, change and take away flags and segments which need each other; the same for the same seed. */
export function specsOf(seed: number): readonly Step[] {
  const random = randomFrom(seed + 1);
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  const flags = Array.from({ length: 3 + upTo(3) }, (_, i) => `flag-${String(i)}`);
  const all = (segment: string, on: () => number): Record<string, string> =>
    Object.fromEntries(
      flags.map((name, i) => [
        `flags/${name}.yaml`,
        flagText(name, { on: on(), segment, needs: flags[i - 1], targets: 1 + upTo(4) }),
      ]),
    );
  const last = flags.at(-1) ?? '';
  return [
    {
      message: 'Add flags and segments',
      files: {
        'flagkeel.yaml': CONFIG,
        'segments/staff.yaml': segmentText('staff', 0, 20 + upTo(150)),
        'segments/beta.yaml': segmentText('beta', 0, upTo(30)),
        ...all('staff', () => upTo(100)),
      },
      gone: [],
    },
    {
      message: 'Ramp, and swap the people',
      files: {
        'segments/crew.yaml': segmentText('crew', 5, 10 + upTo(150)),
        'segments/beta.yaml': segmentText('beta', upTo(10), upTo(60)),
        ...all('crew', () => upTo(100)),
      },
      gone: ['segments/staff.yaml'],
    },
    {
      message: 'Take the last flag away',
      files: { ...all('beta', () => upTo(100)), [`flags/${last}.yaml`]: '' },
      gone: ['segments/crew.yaml'],
    },
  ].map((step) => withoutEmpty(step));
}

/** What is written empty is taken away instead. */
function withoutEmpty({ message, files, gone }: Step): Step {
  const kept = Object.entries(files).filter(([, text]) => text !== '');
  const empty = Object.keys(files).filter((path) => files[path] === '');
  return { message, files: Object.fromEntries(kept), gone: [...gone, ...empty] };
}

function flagText(
  name: string,
  parts: { on: number; segment: string; needs: string | undefined; targets: number },
): string {
  const { on, segment, needs, targets } = parts;
  const keys = Array.from({ length: targets }, (_, i) => `qa-${String(i)}`).join(', ');
  const dependency = needs
    ? `      - { if: { flag: ${needs}, treatments: ["on"] }, serve: "on" }\n`
    : '';
  const block = (share: number): string => `    targets: { "on": [${keys}] }
    rules:
      - { if: { segment: ${segment} }, serve: { "on": ${String(share)}, "off": rest } }
${dependency}    defaultRule: { "on": ${String(share)}, "off": rest }
`;
  return `flag: ${name}
description: One of a story
tags: [web, ${segment}]
treatments: { "on": New, "off": Old }
defaultTreatment: "off"
environments:
  staging:
${block(on)}  production:
${block(Math.floor(on / 2))}`;
}

function segmentText(name: string, from: number, count: number): string {
  const keys = Array.from({ length: count }, (_, i) => `user-${String(from + i)}`).join(', ');
  return `segment: ${name}
environments:
  staging: { keys: [${keys}] }
  production: { keys: [${keys}] }
`;
}

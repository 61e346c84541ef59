import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { COMMANDS } from '../../../src/cli/command-table.js';
import type { Terminal } from '../../../src/cli/terminal.js';
import { readSpecs } from '../../../src/specs/read-specs.js';
import { treeOf } from '../../support/spec-tree.js';
import { PROJECT, projectText } from './page.js';

const PAGES = [
  'README.md',
  ...readdirSync(join(PROJECT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

interface Block {
  readonly page: string;
  readonly language: string;
  readonly text: string;
}

const BLOCKS: readonly Block[] = PAGES.flatMap((page) =>
  [...projectText(page).matchAll(/^```([a-z]*)[^\n]*\n([^]*?)^```$/gm)].map(
    ([, language = '', text = '']) => ({ page, language, text }),
  ),
);

function blocksOf(...languages: readonly string[]): readonly Block[] {
  return BLOCKS.filter(({ language }) => languages.includes(language));
}

/** Words of a command line, quotes taken off. What the shell puts in stays as it is written. */
function wordsOf(line: string): string[] {
  const words = line.match(/(?:"[^"]*"|'[^']*'|\$\([^)]*\)|[^\s"'])+/g) ?? [];
  return words.map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
}

/** The calls of flagkeel in a script, as the words behind its name. An image of that name is run with them as well. */
function callsIn(script: string): string[][] {
  const lines = script
    .replaceAll(/\\\n\s*/g, ' ')
    .replaceAll(/ +# .*$/gm, '')
    .split('\n');
  return lines.flatMap((line) =>
    line.split(/&&|\||;/).flatMap((part) => {
      const [, call] = /(?:^|\s)flagkeel ([a-z-]*[a-z].*)$/.exec(part) ?? [];
      return call === undefined || call.startsWith('-') ? [] : [wordsOf(call)];
    }),
  );
}

/** Why the command line would be refused; undefined: it is understood. Nothing is run. */
async function refusal([name = '', ...args]: readonly string[]): Promise<string | undefined> {
  const row = COMMANDS[name];
  if (!row) return `there is no command "${name}"`;
  if (args.includes('--help')) return undefined;
  const command = new Command(name);
  (await row.load())(command, { terminal: {} as Terminal, done: () => undefined });
  for (const each of [command, ...command.commands]) {
    each.exitOverride().configureOutput({ writeErr: () => undefined });
    each.action(() => undefined);
  }
  try {
    await command.parseAsync(args, { from: 'user' });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('commands in README.md and docs/', () => {
  const scripts = blocksOf('sh');
  const calls = scripts.flatMap(({ page, text }) =>
    callsIn(text).map((words) => ({ page, words })),
  );

  it('are understood by the program, each with its options and arguments', async () => {
    const refused = await Promise.all(
      calls.map(async ({ page, words }) => {
        const why = await refusal(words);
        return why === undefined ? [] : [`${page}: flagkeel ${words.join(' ')}: ${why}`];
      }),
    );

    expect(calls.length).toBeGreaterThan(30);
    expect(refused.flat()).toEqual([]);
  });

  it('would be found out if they were not', async () => {
    expect(await refusal(['reconcile', '--dryrun'])).toContain('unknown option');
    expect(await refusal(['kill', '--environment', 'x'])).toContain('missing required argument');
    expect(await refusal(['fmt', '--format', 'xml'])).toContain('Allowed choices');
    expect(callsIn('A=b npx flagkeel plan --url x . | tee y\nflagkeel() { :; }')).toEqual([
      ['plan', '--url', 'x', '.'],
    ]);
  });

  it.each(scripts.map(({ page, text }, at) => [`${page}, ${at + 1}`, text]))(
    'are a script that a shell can read, with files that there are: %s',
    (_, text) => {
      const script = text.replaceAll(/<[a-z0-9 ]+>/g, 'x');
      execFileSync('sh', ['-n'], { input: script });

      const files = [...script.matchAll(/(?<=[\s=])(?:deploy|docs|specs-example|schemas)\/?\S*/g)];
      const missing = files
        .map(([file]) => file)
        .filter((file) => !file.startsWith('schemas/') && !existsSync(join(PROJECT, file)));
      expect(missing).toEqual([]);
    },
  );
});

const CONFIG = `workspace: Default
environments: { staging: {}, production: { protected: true } }
defaults: { trafficType: user }
references: { segments: [staff] }
`;

/** What each page shows of specs without naming a file, and the file that it is meant to be. */
const FRAGMENTS: Readonly<Record<string, readonly ((text: string) => Record<string, string>)[]>> = {
  'README.md': [(text) => ({ 'flagkeel.yaml': CONFIG, 'flags/new-checkout.yaml': text })],
  'docs/how-to.md': [(text) => ({ 'flagkeel.yaml': CONFIG, 'flags/new-checkout.yaml': text })],
  'docs/impact.md': [
    (text) => ({ 'flagkeel.yaml': `workspace: Default\n${text}` }),
    (text) => ({
      'flagkeel.yaml': CONFIG,
      'flags/pay.yaml': `flag: pay\ntreatments: { "on": "", "off": "" }\ndefaultTreatment: "off"\n${text}`,
    }),
  ],
  'docs/plan.md': [(text) => ({ 'flagkeel.yaml': `${CONFIG}${text}` })],
  'docs/state.md': [(text) => ({ 'flagkeel.yaml': `${CONFIG}${text}` })],
};

describe('YAML in README.md and docs/', () => {
  const unnamed = blocksOf('yaml').filter(({ text }) => !/^# \S+\n/.test(text));

  it('names its file, is known as a part of one, or is a step of a workflow', () => {
    const counts = new Map<string, number>();
    for (const { page } of unnamed) counts.set(page, (counts.get(page) ?? 0) + 1);

    expect(Object.fromEntries(counts)).toEqual({
      ...Object.fromEntries(Object.entries(FRAGMENTS).map(([page, all]) => [page, all.length])),
      'docs/review.md': 1,
    });
  });

  it.each(Object.keys(FRAGMENTS))('is right where it has no file of its own: %s', async (page) => {
    const texts = unnamed.filter((block) => block.page === page).map(({ text }) => text);
    for (const [position, fileOf] of (FRAGMENTS[page] ?? []).entries()) {
      const result = await readSpecs(treeOf(fileOf(texts[position] ?? '')));

      expect(result.ok ? result.warnings : result.diagnostics).toEqual([]);
    }
  });

  it('calls the action with inputs that it has', () => {
    const { inputs } = parse(projectText('action.yml')) as { inputs: object };
    const [step] = unnamed.filter(({ page }) => page === 'docs/review.md');
    const steps = parse(step?.text ?? '') as { uses: string; with: object }[];

    const used = steps.find(({ uses }) => uses.includes('flagkeel'))?.with ?? {};
    expect(Object.keys(used).length).toBeGreaterThan(0);
    expect(Object.keys(used).filter((name) => !(name in inputs))).toEqual([]);
  });
});

it('blocks of README.md and docs/ are of languages that are held to something', () => {
  const languages = new Set(BLOCKS.map(({ language }) => language));

  // Those without a language, and text, show what is printed and what files hold. The one of js is loaded by
  // test/e2e/telemetry.slow.test.ts.
  const known = ['', 'csv', 'dockerfile', 'js', 'json', 'sh', 'text', 'yaml'];
  expect([...languages].toSorted()).toEqual(known);
  expect(blocksOf('js').map(({ page }) => page)).toEqual(['docs/watch-operations.md']);
  for (const { text } of blocksOf('dockerfile')) expect(validate(text)).toEqual([]);
  for (const { text } of blocksOf('json')) expect(() => JSON.parse(text) as unknown).not.toThrow();
});

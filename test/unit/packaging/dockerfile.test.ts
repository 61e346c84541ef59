import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';
import { projectText } from '../docs/page.js';

interface Instruction {
  readonly name: string;
  /** On one line, with single spaces. */
  readonly value: string;
}

function instructionsOf(file: string): Instruction[] {
  return projectText(file)
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .map((line) => /^([A-Z]+)\s+(.*)$/.exec(line.replaceAll(/\s+/g, ' ')))
    .flatMap((match) => (match ? [{ name: match[1] ?? '', value: match[2] ?? '' }] : []));
}

function valuesOf(name: string, instructions: readonly Instruction[]): string[] {
  return instructions.filter((each) => each.name === name).map(({ value }) => value);
}

/** The instructions of the stage that becomes the image. */
function lastStage(instructions: readonly Instruction[]): readonly Instruction[] {
  return instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
}

describe.each(['Dockerfile', 'deploy/compose/git-server.Dockerfile'])('%s', (file) => {
  const instructions = instructionsOf(file);
  const last = lastStage(instructions);

  it('is well-formed, and uses nothing that is deprecated', () => {
    const problems = validate(projectText(file));
    const lines = problems.map(({ range, message }) => ({ line: range.start.line + 1, message }));
    expect(lines).toEqual([]);
  });

  it('stands on bases whose version is named, does not run as root, and gets signals itself', () => {
    const bases = valuesOf('FROM', instructions).map((value) => value.split(' ')[0] ?? '');
    expect(bases.filter((base) => !/^[a-z/]+:(?!latest$)[\w.-]+$/.test(base))).toEqual([]);
    const users = valuesOf('USER', last);
    expect(users).toHaveLength(1);
    expect(users[0]).not.toMatch(/^(?:root|0)\b/);
    const [entry = ''] = valuesOf('ENTRYPOINT', last);
    expect(JSON.parse(entry)).toBeInstanceOf(Array);
  });

  it('leaves no lists of packages behind, and installs nothing that it does not name', () => {
    const installing = valuesOf('RUN', instructions).filter((run) =>
      run.includes('apt-get install'),
    );
    expect(installing.length).toBeGreaterThan(0);
    for (const run of installing) {
      expect(run).toMatch(/^apt-get update && /);
      expect(run).toContain('--no-install-recommends');
      expect(run).toMatch(/rm -rf .*\/var\/lib\/apt\/lists\/\*/);
    }
  });

  it('holds no secret, neither in a variable nor in a file', () => {
    const variables = instructions.filter(({ name }) => name === 'ENV' || name === 'ARG');
    const secret = /(?:key|token|secret|password)\w*=/i;
    expect(variables.filter(({ value }) => secret.test(value))).toEqual([]);
    expect(projectText(file)).not.toMatch(/fka_|BEGIN .*PRIVATE KEY/);
  });

  it('copies what it names and fetches nothing from the network', () => {
    expect(valuesOf('ADD', instructions)).toEqual([]);
    expect(valuesOf('COPY', instructions).filter((value) => /^\S*\. /.test(value))).toEqual([]);
    expect(valuesOf('RUN', instructions).filter((run) => /\b(?:curl|wget)\b/.test(run))).toEqual(
      [],
    );
  });
});

describe('the container image', () => {
  const instructions = instructionsOf('Dockerfile');
  const last = lastStage(instructions);

  function valueOf(name: string): string | undefined {
    return valuesOf(name, last)[0];
  }

  it('is asked for its health by a program that the sources have', () => {
    const [, words = ''] = /CMD (\[.*\])$/.exec(valueOf('HEALTHCHECK') ?? '') ?? [];
    expect(JSON.parse(words)).toEqual(['node', '/app/dist/health/check.js']);
    expect(projectText('src/health/check.ts')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it('is built from an allow-list that covers everything it copies', () => {
    const ignore = projectText('.dockerignore')
      .split('\n')
      .filter((line) => /^[^#]/.test(line));
    expect(ignore[0]).toBe('*');
    const allowed = ignore.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    const withoutIn = ignore.slice(1).filter((line) => !line.startsWith('!'));
    expect(withoutIn).toEqual(['specs-example/.flagkeel']);
    const copied = valuesOf('COPY', instructions)
      .filter((value) => !value.startsWith('--from='))
      .flatMap((value) => value.split(' ').slice(0, -1));
    expect([...copied].sort()).toEqual([...allowed].sort());
  });
});

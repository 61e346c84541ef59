import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { commandNames } from './help.js';
import { projectText, PROJECT } from '../docs/page.js';

interface PackageJson {
  readonly license: string;
  readonly engines: { readonly node: string };
  readonly bin: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(projectText('package.json')) as PackageJson;

/** What `npm pack` would publish. */
function packedFiles(): string[] {
  const text = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: PROJECT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [packed] = JSON.parse(text) as { files: { path: string }[] }[];
  return (packed?.files ?? []).map(({ path }) => path);
}

describe('the package', () => {
  it('asks for the oldest Node that it is tested on, and pins every library to one version', () => {
    expect(manifest.engines.node).toBe('>=20.19.0');
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  it('brings compiled code, pages and schemas along, and no sources, tests or local data', () => {
    const allowed = ['package.json', ...manifest.files];
    const isAllowed = (file: string): boolean =>
      allowed.some((entry) => file === entry || file.startsWith(`${entry}/`));
    const files = packedFiles();
    expect(files).toContain('LICENSE');
    expect(files).toContain('schemas/plan.schema.json');
    expect(files).toContain('workflows/flagkeel-review.yml');
    // `explain` prints what they say of a code.
    expect(files).toContain('docs/diagnostics.md');
    expect(files.filter((file) => !isAllowed(file))).toEqual([]);
    // They are most of the archive, and the pages of the repository show them.
    expect(files.filter((file) => file.startsWith('docs/images/'))).toEqual([]);
    // The registry shows the README, and whoever installed it reads it there.
    const links = [...projectText('README.md').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)];
    const dead = links.flatMap(([, link = '']) =>
      files.some((file) => file === link || file.startsWith(`${link}/`)) ? [] : [link],
    );
    expect(dead).toEqual([]);
    // What a run of the quick start leaves there.
    expect(manifest.files).toContain('!specs-example/.flagkeel');
    const compiled = files.filter((path) => path.startsWith('dist/'));
    expect(compiled.filter((path) => !path.endsWith('.js'))).toEqual(['dist/THIRD-PARTY.txt']);
    expect(files.filter((path) => /(?:^|\/)\.|\.(?:pem|key|env|log|tgz|db)$/.test(path))).toEqual(
      [],
    );
  }, 120_000);
});

describe('what is installed with the package', () => {
  interface Locked {
    readonly dev?: boolean;
    readonly engines?: { readonly node?: string };
    readonly hasInstallScript?: boolean;
    readonly integrity?: string;
    readonly resolved?: string;
  }
  const lock = JSON.parse(projectText('package-lock.json')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const libraries = Object.entries(lock.packages).filter(([path]) => path !== '');
  const installed = libraries.filter(([, { dev }]) => dev !== true);

  it('runs on the oldest Node that the package asks for', () => {
    // Of `^18 || >=20` the 18 and the 20: one of them has to be no newer than 20.19.
    const unfit = installed.filter(([, { engines }]) => {
      const oldest = [...(engines?.node ?? '0').matchAll(/(\d+)(?:\.(\d+))?/g)];
      return !oldest.some(([, major, minor = '0']) => Number(major) * 100 + Number(minor) <= 2019);
    });
    expect(unfit.map(([path]) => path)).toEqual([]);
  });

  it('runs no script when it is installed', () => {
    expect(installed.length).toBeGreaterThan(20);
    expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]);
    const own = Object.keys(manifest.scripts);
    expect(own.filter((name) => /^(?:pre|post)?install$/.test(name))).toEqual([]);
  });

  it('comes from the registry, each with the digest of its content', () => {
    expect(
      libraries
        .filter(([, { integrity, resolved }]) => {
          // The lock names no place where that is the registry.
          const isOurs = resolved?.startsWith('https://registry.npmjs.org/') ?? true;
          return !isOurs || integrity?.startsWith('sha512-') !== true;
        })
        .map(([path]) => path),
    ).toEqual([]);
  });
});

it('the pages name only npm scripts and commands that there are', async () => {
  const pages = [
    'README.md',
    'SECURITY.md',
    'CONTRIBUTING.md',
    'docs/container.md',
    'docs/deploy.md',
  ];
  const text = pages.map(projectText).join('\n');
  const namesIn = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);
  const scripts = namesIn(/\bnpm run ([a-z:-]+)/g);
  const named = namesIn(/`flagkeel ([a-z][a-z-]*)/g);
  const commands = await commandNames();

  expect(scripts.filter((script) => !(script in manifest.scripts))).toEqual([]);
  expect(commands).toContain('reconcile');
  expect(named.filter((command) => !commands.includes(command))).toEqual([]);
});

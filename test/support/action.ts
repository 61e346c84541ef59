import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { start, type CliOptions, type CliResult } from './cli.js';
import { listen } from './loopback.js';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const MANIFEST = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
  readonly name: string;
  readonly version: string;
};

const BIN = { [MANIFEST.name]: 'dist/main.js' };

/** A runner for the action, with a package registry on loopback that has this build of the program. */
export interface TestRunner extends AsyncDisposable {
  /** Runs the action's bundle as a runner does, in the checkout. */
  action(inputs: Readonly<Record<string, string>>, options: CliOptions): Promise<ActionResult>;
  /** What was asked of the registry. */
  readonly requests: readonly string[];
  /** A file that only a script run at installation would make. */
  readonly scriptMark: string;
  readonly temporary: string;
}

export interface ActionResult extends CliResult {
  /** What the file behind `GITHUB_OUTPUT` holds. */
  readonly outputs: string;
}

export async function startTestRunner(): Promise<TestRunner> {
  const folder = mkdtempSync(join(tmpdir(), 'flagkeel-runner-test-'));
  const temporary = join(folder, 'temp');
  mkdirSync(temporary);
  const scriptMark = join(folder, 'script-ran');
  const registry = await startRegistry(packedProgram(folder, scriptMark));
  // Settings of a user, which those of a project outweigh: a checkout that is asked would win.
  const settings = join(folder, 'npmrc');
  writeFileSync(settings, `registry=${registry.url}\ncache=${join(folder, 'cache')}\n`);
  const outputFile = join(folder, 'output');
  return {
    requests: registry.requests,
    scriptMark,
    temporary,
    action: async (inputs, options) => {
      writeFileSync(outputFile, '');
      const result = await start([process.execPath, join(PROJECT, 'action/index.js')], '', {
        ...options,
        env: {
          ...{ npm_config_userconfig: settings, RUNNER_TEMP: temporary, GITHUB_OUTPUT: outputFile },
          ...options.env,
          ...inputVariables(inputs),
        },
      }).ended;
      return { ...result, outputs: readFileSync(outputFile, 'utf8') };
    },
    [Symbol.asyncDispose]: async () => {
      await registry.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function inputVariables(inputs: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(inputs);
  return Object.fromEntries(entries.map(([name, text]) => [`INPUT_${name.toUpperCase()}`, text]));
}

/** A package whose command is the build in `dist/`, with the libraries that stand there. */
function packedProgram(folder: string, scriptMark: string): Buffer {
  const root = join(folder, 'package');
  mkdirSync(join(root, 'dist'), { recursive: true });
  const manifest = {
    ...{ name: MANIFEST.name, version: MANIFEST.version, type: 'module' },
    bin: BIN,
    scripts: { postinstall: `touch ${scriptMark}` },
  };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
  const main = new URL('../../dist/main.js', import.meta.url).href;
  const text = `#!/usr/bin/env node\nimport ${JSON.stringify(main)};\n`;
  writeFileSync(join(root, 'dist/main.js'), text);
  return execFileSync('tar', ['-czf', '-', '-C', folder, 'package']);
}

interface Registry {
  readonly url: string;
  readonly requests: readonly string[];
  close(): Promise<void>;
}

async function startRegistry(archive: Buffer): Promise<Registry> {
  const requests: string[] = [];
  const { name, version } = MANIFEST;
  const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    requests.push(path);
    if (path === '/program.tgz') return response.end(archive);
    if (path !== `/${name}`) return response.writeHead(404).end('{}');
    const dist = { tarball: `http://${request.headers.host ?? ''}/program.tgz`, integrity };
    const versions = { [version]: { name, version, bin: BIN, hasInstallScript: true, dist } };
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
  });
  const { url, close } = await listen(server);
  return { url: `${url}/`, requests, close };
}

import { appendFile, readFile } from 'node:fs/promises';
import { EXIT, FlagkeelError, messageOf } from '../../src/errors.js';
import { toInvocation, withoutSecrets } from './inputs.js';
import { install, Programs, type Manifest } from './program.js';

/** Entry of the GitHub action: installs the version that the action's own package.json names, and runs it once. */
const programs = new Programs();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    programs.interrupt(signal);
  });
}

async function runAction(): Promise<number> {
  const { args, environment } = toInvocation(process.env);
  const manifest = await readManifest();
  await using program = await install(manifest, {
    programs,
    environment: withoutSecrets(process.env),
  });
  if (program.code !== 0) {
    const what = `${manifest.name}@${manifest.version}`;
    const why = `npm ended with ${String(program.code)}`;
    process.stderr.write(`cannot install ${what}: ${why} (its messages stand above)\n`);
    return program.code > 128 ? program.code : EXIT.failed;
  }
  // Awaited here: what is installed goes when this function ends.
  return await programs.run([process.execPath, program.main, ...args], {
    env: environment,
    stdio: 'inherit',
  });
}

async function readManifest(): Promise<Manifest> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  return JSON.parse(text) as Manifest;
}

try {
  process.exitCode = await runAction();
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = error instanceof FlagkeelError ? error.exitCode : EXIT.failed;
}
const outputFile = process.env['GITHUB_OUTPUT'];
if (outputFile) {
  await appendFile(outputFile, `exit-code=${String(process.exitCode)}\n`).catch(
    (error: unknown) => {
      process.stderr.write(`warning: cannot write the output exit-code: ${messageOf(error)}\n`);
    },
  );
}

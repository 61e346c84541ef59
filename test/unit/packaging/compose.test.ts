import { VARIABLES } from '../../../src/compose/settings.js';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseSeed } from '../../../src/service/seed.js';
import { makeDirectory } from '../../support/git.js';
import { unknownOptions } from './help.js';
import { PROJECT, projectText } from '../docs/page.js';

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile?: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly disable?: boolean };
  readonly network_mode?: string;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
}

const compose = parse(projectText('deploy/compose.yaml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
};
const services = Object.entries(compose.services);

describe('deploy/compose.yaml', () => {
  it.each(services)('%s: names folders, files and volumes that there are', (_name, service) => {
    const sources = (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
    const missing = sources.filter((source) =>
      source.startsWith('.')
        ? !existsSync(join(PROJECT, 'deploy', source))
        : !(source in compose.volumes),
    );
    expect(missing).toEqual([]);
    const { context = '..', dockerfile = 'Dockerfile' } = service.build ?? {};
    expect(statSync(join(PROJECT, 'deploy', context, dockerfile)).isFile()).toBe(true);
  });

  it.each(services)('%s: waits for others that there are, in a way they can end', (_, service) => {
    const waits = Object.entries(service.depends_on ?? {});
    expect(waits.filter(([name]) => !(name in compose.services))).toEqual([]);
    const unhealthy = waits.filter(
      ([name, { condition }]) =>
        condition === 'service_healthy' &&
        compose.services[name]?.image !== 'flagkeel' &&
        compose.services[name]?.healthcheck === undefined,
    );
    expect(unhealthy).toEqual([]);
    const shared = service.network_mode?.split(':')[1];
    expect(shared === undefined || shared in compose.services).toBe(true);
  });

  it.each(services)('%s: has options and variables that flagkeel knows', async (_, service) => {
    const { command = [], environment = {} } = service;
    if (command.length > 0) expect(await unknownOptions(command)).toEqual([]);
    const names = Object.keys(environment).filter((name) => name.startsWith('FLAGKEEL_'));
    expect(names.filter((name) => !(name in VARIABLES))).toEqual([]);
  });

  it('may do as little as possible, is open to this machine alone, and holds no secret', () => {
    const free = services.filter(([, { read_only, cap_drop }]) => !read_only || !cap_drop);
    expect(free.map(([name]) => name)).toEqual(['database']);
    const ports = services.flatMap(([, service]) => service.ports ?? []);
    expect(ports.length).toBeGreaterThan(0);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    const text = projectText('deploy/compose.yaml');
    expect(text).not.toMatch(/fka_|:\/\/\w+:\w+@|PASSWORD: /);
  });

  it('takes the key that a start before has made and not put in its place', () => {
    const folder = makeDirectory();
    writeFileSync(join(folder, 'new-key'), 'the key\n');
    // The service refuses a second key of the name.
    const script = projectText('deploy/compose/key.sh').replaceAll(/^ *node /gm, 'false ');
    execFileSync('sh', ['-c', script.replaceAll('/secrets', folder)]);

    expect(readFileSync(join(folder, 'api-key'), 'utf8')).toBe('the key\n');
  });

  it('seeds the environments that the example of specs names', () => {
    const seed = parseSeed(projectText('deploy/compose/seed.json'), 'seed.json');
    const specs = parse(projectText('specs-example/flagkeel.yaml')) as {
      readonly workspace: string;
      readonly environments: Readonly<Record<string, unknown>>;
    };
    const [workspace] = seed.workspaces;
    expect(workspace?.name).toBe(specs.workspace);
    expect(workspace?.environments.map(({ name }) => name)).toEqual(
      Object.keys(specs.environments),
    );
  });
});

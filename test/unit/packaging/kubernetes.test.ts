import { VARIABLES } from '../../../src/compose/settings.js';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readWatchConfig } from '../../../src/specs/read-config.js';
import { unknownOptions } from './help.js';
import { PROJECT } from './project.js';

const ROOT = join(PROJECT, 'deploy/kubernetes');

interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly { readonly path: string }[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly files: string[] }[];
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: unknown;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Deployment {
  readonly spec: {
    readonly strategy: unknown;
    readonly template: {
      readonly spec: {
        readonly automountServiceAccountToken: boolean;
        readonly serviceAccountName: string;
        readonly securityContext: unknown;
        readonly containers: readonly [Container];
        readonly volumes: readonly {
          readonly name: string;
          readonly configMap?: { readonly name: string };
          readonly secret?: { readonly secretName: string };
          readonly persistentVolumeClaim?: { readonly claimName: string };
        }[];
      };
    };
  };
}

const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((file) =>
  statSync(join(ROOT, file)).isFile(),
);

function read(file: string): unknown {
  return parse(readFileSync(join(ROOT, file), 'utf8'));
}

/** Files that a kustomization uses, over all that it refers to; those that are not there as well. */
function reached(kustomization: string): string[] {
  const {
    resources = [],
    components = [],
    patches = [],
    configMapGenerator = [],
  } = read(kustomization) as Kustomization;
  const sources = configMapGenerator.flatMap((generator) => generator.files);
  const here = dirname(kustomization);
  return [
    kustomization,
    ...[...resources, ...components, ...patches.map(({ path }) => path), ...sources]
      .map((name) => join(here, name))
      .flatMap((path) => {
        const isFolder = existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isDirectory();
        return isFolder ? reached(join(path, 'kustomization.yaml')) : [path];
      }),
  ];
}

const deployment = read('base/deployment.yaml') as Deployment;
const pod = deployment.spec.template.spec;
const [container] = pod.containers;

describe('deploy/kubernetes', () => {
  it.each(files)('%s is YAML without errors', (file) => {
    const documents = parseAllDocuments(readFileSync(join(ROOT, file), 'utf8'));
    expect([...documents].flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('reaches every file from the example and its other component, and none that is not there', () => {
    const example = readFileSync(join(ROOT, 'example/kustomization.yaml'), 'utf8');
    const [, other = ''] = /^ {2}# - \.\.\/(\w+)$/m.exec(example) ?? [];
    const all = [
      ...reached('example/kustomization.yaml'),
      ...reached(join(other, 'kustomization.yaml')),
    ];
    expect(all.sort()).toEqual([...files].sort());
  });

  const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
  it.skipIf(!hasKubectl)('is put together by kustomize', () => {
    const text = execFileSync('kubectl', ['kustomize', join(ROOT, 'example')], {
      encoding: 'utf8',
    });
    const kinds = parseAllDocuments(text).map((document) => String(document.get('kind')));
    expect(kinds.sort()).toEqual([
      'ConfigMap',
      'Deployment',
      'Namespace',
      'NetworkPolicy',
      'PersistentVolumeClaim',
      'Service',
      'ServiceAccount',
      'ServiceMonitor',
    ]);
    // The name under which the deployment finds its sources holds the hash of them.
    expect(text).toMatch(/configMap:\n\s+name: flagkeel-sources-[a-z0-9]+\n/);
  });

  it('starts the daemon with options that it has', async () => {
    expect(container.args[0]).toBe('watch');
    expect(await unknownOptions(container.args)).toEqual([]);
  });

  it('sets variables that the daemon reads', () => {
    expect(container.env.filter(({ name }) => !(name in VARIABLES))).toEqual([]);
  });

  it('has an example of sources that the daemon takes', () => {
    const path = join(ROOT, 'example/sources.yaml');
    expect(readWatchConfig(path, readFileSync(path))).toMatchObject({ ok: true });
  });

  it('fits the restricted security standard, with a root that cannot be written', () => {
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod.automountServiceAccountToken).toBe(false);
  });

  it('listens where it is asked, probed and scraped', () => {
    const listen = container.args.find((word) => word.startsWith('--listen='));
    const [port] = container.ports;
    expect(listen).toBe(`--listen=0.0.0.0:${String(port?.containerPort)}`);
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const probes = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
    expect(probes).toEqual(
      ['/healthz', '/healthz', '/readyz'].map((path) => ({ path, port: port?.name })),
    );
    expect(read('base/service.yaml')).toMatchObject({
      spec: { ports: [{ name: port?.name, targetPort: port?.name }] },
    });
    expect(read('base/network-policy.yaml')).toMatchObject({
      spec: { ingress: [{ ports: [{ port: port?.name }] }] },
    });
    expect(read('monitoring/service-monitor.yaml')).toMatchObject({
      spec: { endpoints: [{ port: port?.name, path: '/metrics' }] },
    });
  });

  it('mounts what it declares, and names what there is', () => {
    expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(
      pod.volumes.map(({ name }) => name).sort(),
    );
    expect(read('base/state.yaml')).toMatchObject({
      metadata: {
        name: pod.volumes.find((volume) => volume.persistentVolumeClaim)?.persistentVolumeClaim
          ?.claimName,
      },
    });
    expect(read('base/service-account.yaml')).toMatchObject({
      metadata: { name: pod.serviceAccountName },
    });
    const [generator] =
      (read('example/kustomization.yaml') as Kustomization).configMapGenerator ?? [];
    expect(generator?.name).toBe(pod.volumes.find((volume) => volume.configMap)?.configMap?.name);
  });

  it('holds no secret, and says which files the one it names must have', () => {
    const kinds = files.map((file) => readFileSync(join(ROOT, file), 'utf8'));
    expect(kinds.filter((text) => /^kind: Secret$/m.test(text) || text.includes('fka_'))).toEqual(
      [],
    );

    const secrets = container.volumeMounts.find(({ name }) => name === 'secrets')?.mountPath ?? '-';
    const words = [...container.args, ...container.env.map(({ value }) => value)].join('\n');
    const used = [...words.matchAll(/(?:^|=)(\/.*)$/gm)]
      .map(([, path = '']) => path)
      .filter((path) => path.startsWith(`${secrets}/`))
      .map((path) => path.slice(secrets.length + 1));
    const example = readFileSync(join(ROOT, 'example/kustomization.yaml'), 'utf8');
    const [create = ''] = /kubectl create secret.*/.exec(example) ?? [];
    const made = [...create.matchAll(/--from-file=([\w-]+)/g)].map(([, name = '']) => name);
    expect([...used].sort()).toEqual([...made].sort());
  });

  it('has a component for replicas that patches what there is', () => {
    const patch = read('replicas/deployment.yaml') as Deployment;
    const [{ env }] = patch.spec.template.spec.containers;
    expect(patch).toMatchObject({
      metadata: { name: 'flagkeel' },
      spec: { replicas: 2, strategy: { type: 'RollingUpdate' } },
    });
    expect(env.filter(({ name }) => !(name in VARIABLES))).toEqual([]);
    const [volume] = patch.spec.template.spec.volumes;
    expect(volume).toMatchObject({ persistentVolumeClaim: null, emptyDir: {} });
    expect(pod.volumes.map(({ name }) => name)).toContain(volume?.name);
    expect(read('replicas/state.yaml')).toMatchObject({
      $patch: 'delete',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: pod.volumes.find((each) => each.persistentVolumeClaim)?.persistentVolumeClaim
          ?.claimName,
      },
    });
  });

  it('ends the old pod before the new one: they share the volume', () => {
    expect(deployment.spec.strategy).toEqual({ type: 'Recreate' });
  });
});

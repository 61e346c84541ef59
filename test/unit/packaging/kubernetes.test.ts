import { VARIABLES } from '../../../src/compose/settings.js';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readWatchConfig } from '../../../src/specs/read-config.js';
import { unknownOptions } from './help.js';
import { faultsOf } from './kubernetes-kinds.js';
import { PROJECT } from '../docs/page.js';

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

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly egress?: readonly { readonly ports: readonly { readonly port: number }[] }[];
  };
}

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

/** The objects that `kubectl apply -k` sends. */
function rendered(name: 'example' | 'example with replicas'): readonly Rendered[] {
  const folder = mkdtempSync(join(tmpdir(), 'flagkeel-kustomize-'));
  try {
    cpSync(ROOT, folder, { recursive: true });
    const file = join(folder, 'example/kustomization.yaml');
    const text = readFileSync(file, 'utf8');
    if (name !== 'example') writeFileSync(file, text.replace('# - ../replicas', '- ../replicas'));
    const out = execFileSync('kubectl', ['kustomize', join(folder, 'example')], {
      encoding: 'utf8',
    });
    return parseAllDocuments(out).map((document) => document.toJS() as Rendered);
  } finally {
    rmSync(folder, { recursive: true });
  }
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

  const kustomizations = ['example', 'example with replicas'] as const;

  it.skipIf(!hasKubectl).each(kustomizations)('is put together by kustomize: %s', (name) => {
    const objects = rendered(name);
    const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
    const labels = { 'app.kubernetes.io/name': 'flagkeel' };

    expect(objects.map(({ kind }) => kind).sort()).toEqual(
      [
        ...['ConfigMap', 'Deployment', 'Namespace', 'NetworkPolicy', 'NetworkPolicy'],
        ...['PrometheusRule', 'Service', 'ServiceAccount', 'ServiceMonitor'],
        ...(name === 'example'
          ? ['PersistentVolumeClaim']
          : ['NetworkPolicy', 'PodDisruptionBudget']),
      ].sort(),
    );
    expect(objects.flatMap(faultsOf)).toEqual([]);
    // The name under which the deployment finds its sources holds the hash of them.
    const [sources] = objects.filter(({ kind }) => kind === 'ConfigMap');
    expect(sources?.metadata.name).toMatch(/^flagkeel-sources-[a-z0-9]+$/);
    const [own] = objects.filter(({ kind }) => kind === 'Deployment');
    expect(own).toMatchObject({ spec: { template: { metadata: { labels } } } });
    for (const { spec } of policies) {
      expect(spec).toMatchObject({ podSelector: { matchLabels: labels } });
      // Kustomize puts the labels of the pods into each selector by labels: a peer must not have one.
      expect(JSON.stringify(spec).match(/matchLabels":\{"app/g)).toHaveLength(1);
    }
    const ports = policies.flatMap(({ spec }) =>
      (spec?.egress ?? []).flatMap((each) => each.ports.map(({ port }) => port)),
    );
    // Names, https, ssh, spans, checks that ask Prometheus; of replicas PostgreSQL too.
    const database = name === 'example' ? [] : [5432];
    expect([...new Set(ports)].sort((a, b) => a - b)).toEqual([
      22,
      53,
      443,
      4318,
      ...database,
      9090,
    ]);
  });

  it('would find a member that no server knows, and has the alerts of Prometheus alone', () => {
    const policy = read('base/network-policy.yaml') as { readonly spec: object };
    const { spec } = read('monitoring/prometheus-rule.yaml') as { readonly spec: unknown };

    expect(faultsOf({ ...policy, spec: { ...policy.spec, egres: [] } })).toEqual([
      'NetworkPolicy.spec.egres is unknown',
    ]);
    expect(spec).toEqual(read('../prometheus/alerts.yaml'));
  });

  it('starts the daemon with options that it has, and sets variables that it reads', async () => {
    expect(container.args[0]).toBe('watch');
    expect(await unknownOptions(container.args)).toEqual([]);
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

  it('ends the old pod before the new one, since they share the volume, but for replicas', () => {
    expect(deployment.spec.strategy).toEqual({ type: 'Recreate' });
    expect(read('replicas/disruption-budget.yaml')).toMatchObject({
      spec: { minAvailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    });
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
});

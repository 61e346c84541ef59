import { VARIABLES } from '../../../src/compose/settings.js';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readWatchConfig } from '../../../src/specs/read-config.js';
import { unknownOptions } from './help.js';
import { faultsOf } from './kubernetes-kinds.js';
import { makeDirectory } from '../../support/git.js';
import { lacks } from '../../support/requirements.js';
import { PROJECT } from '../docs/page.js';

const ROOT = join(PROJECT, 'deploy/kubernetes');

interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly { readonly path: string }[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly files: string[] }[];
}

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly [
          {
            readonly args: readonly string[];
            readonly env: readonly { readonly name: string; readonly value: string }[];
            readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
            readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
          },
        ];
        readonly volumes: readonly { readonly name: string }[];
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

function nameIn(file: string): string {
  return (read(file) as { metadata: { name: string } }).metadata.name;
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

/** The objects that `kubectl apply -k` sends. */
function rendered(name: 'example' | 'example with replicas'): readonly Rendered[] {
  const folder = makeDirectory();
  cpSync(ROOT, folder, { recursive: true });
  const file = join(folder, 'example/kustomization.yaml');
  const text = readFileSync(file, 'utf8');
  if (name !== 'example') writeFileSync(file, text.replace('# - ../replicas', '- ../replicas'));
  const out = execFileSync('kubectl', ['kustomize', join(folder, 'example')], { encoding: 'utf8' });
  return parseAllDocuments(out).map((document) => document.toJS() as Rendered);
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

  it.skipIf(lacks('kubectl')).each(kustomizations)('is put together by kustomize: %s', (name) => {
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

  it('fits the restricted security standard, and ends the old pod before the new one', () => {
    expect(deployment.spec).toMatchObject({
      // They share the volume.
      strategy: { type: 'Recreate' },
      template: {
        spec: {
          automountServiceAccountToken: false,
          securityContext: {
            ...{ runAsNonRoot: true, runAsUser: 1000 },
            seccompProfile: { type: 'RuntimeDefault' },
          },
        },
      },
    });
    expect(container).toHaveProperty('securityContext', {
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
      capabilities: { drop: ['ALL'] },
    });
  });

  it('listens where it is asked, probed and scraped', () => {
    const [{ name: port, containerPort } = { name: '-', containerPort: 0 }] = container.ports;
    const probe = (path: string) => ({ httpGet: { path, port } });

    expect(container.args).toContain(`--listen=0.0.0.0:${containerPort}`);
    expect(container).toMatchObject({
      startupProbe: probe('/healthz'),
      livenessProbe: probe('/healthz'),
      readinessProbe: probe('/readyz'),
    });
    const service = { ports: [{ name: port, targetPort: port }] };
    expect(read('base/service.yaml')).toMatchObject({ spec: service });
    const policy = { ingress: [{ ports: [{ port }] }] };
    expect(read('base/network-policy.yaml')).toMatchObject({ spec: policy });
    const monitor = { endpoints: [{ port, path: '/metrics' }] };
    expect(read('monitoring/service-monitor.yaml')).toMatchObject({ spec: monitor });
  });

  it('mounts what it declares, and names what there is', () => {
    const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name).sort();
    const { configMapGenerator } = read('example/kustomization.yaml') as Kustomization;

    expect(names(container.volumeMounts)).toEqual(names(pod.volumes));
    expect(pod).toHaveProperty('serviceAccountName', nameIn('base/service-account.yaml'));
    expect(pod.volumes).toMatchObject(
      expect.arrayContaining(
        [
          { persistentVolumeClaim: { claimName: nameIn('base/state.yaml') } },
          { configMap: { name: configMapGenerator?.[0]?.name } },
        ].map((each) => expect.objectContaining(each) as unknown),
      ),
    );
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

  it('has a component for replicas that patches what there is, and lets a node be drained', () => {
    const patch = read('replicas/deployment.yaml') as Deployment;
    const [{ env }] = patch.spec.template.spec.containers;
    const [volume] = patch.spec.template.spec.volumes;

    expect(patch).toMatchObject({
      metadata: { name: 'flagkeel' },
      spec: { replicas: 2, strategy: { type: 'RollingUpdate' } },
    });
    expect(env.filter(({ name }) => !(name in VARIABLES))).toEqual([]);
    expect(volume).toMatchObject({ persistentVolumeClaim: null, emptyDir: {} });
    expect(pod.volumes.map(({ name }) => name)).toContain(volume?.name);
    expect(read('replicas/state.yaml')).toMatchObject({
      ...{ $patch: 'delete', kind: 'PersistentVolumeClaim' },
      metadata: { name: nameIn('base/state.yaml') },
    });
    // A pod that is not ready must not keep its node.
    expect(read('replicas/disruption-budget.yaml')).toMatchObject({
      spec: { minAvailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    });
  });
});

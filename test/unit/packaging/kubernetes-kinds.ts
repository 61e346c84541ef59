/**
 * What a server takes of the kinds that `deploy/kubernetes` has, as far as it uses them: the names and types of members
 * are those of the reference of Kubernetes 1.32 and of the Prometheus operator. A server drops or refuses any other.
 */
type Shape =
  | 'string'
  | 'integer'
  | 'boolean'
  /** A number, or a text such as `50%` or the name of a port. */
  | 'integer or string'
  /** Texts by name. */
  | 'map'
  /** Amounts, such as `50m`, by name. */
  | 'amounts'
  | readonly [Shape]
  | { readonly [member: string]: Shape };

const METADATA = {
  name: 'string',
  namespace: 'string',
  labels: 'map',
  annotations: 'map',
} as const;

const SELECTOR = {
  matchLabels: 'map',
  matchExpressions: [{ key: 'string', operator: 'string', values: ['string'] }],
} as const;

const PEER = {
  podSelector: SELECTOR,
  namespaceSelector: SELECTOR,
  ipBlock: { cidr: 'string', except: ['string'] },
} as const;

const POLICY_PORT = { protocol: 'string', port: 'integer or string', endPort: 'integer' } as const;

const PROBE = {
  httpGet: { path: 'string', port: 'integer or string', scheme: 'string', host: 'string' },
  initialDelaySeconds: 'integer',
  periodSeconds: 'integer',
  timeoutSeconds: 'integer',
  failureThreshold: 'integer',
  successThreshold: 'integer',
} as const;

const SECCOMP = { type: 'string', localhostProfile: 'string' } as const;

const CONTAINER = {
  name: 'string',
  image: 'string',
  imagePullPolicy: 'string',
  command: ['string'],
  args: ['string'],
  env: [{ name: 'string', value: 'string' }],
  ports: [{ name: 'string', containerPort: 'integer', protocol: 'string' }],
  startupProbe: PROBE,
  livenessProbe: PROBE,
  readinessProbe: PROBE,
  resources: { requests: 'amounts', limits: 'amounts' },
  securityContext: {
    allowPrivilegeEscalation: 'boolean',
    readOnlyRootFilesystem: 'boolean',
    runAsNonRoot: 'boolean',
    runAsUser: 'integer',
    runAsGroup: 'integer',
    capabilities: { add: ['string'], drop: ['string'] },
    seccompProfile: SECCOMP,
  },
  volumeMounts: [{ name: 'string', mountPath: 'string', readOnly: 'boolean', subPath: 'string' }],
} as const;

const VOLUME = {
  name: 'string',
  configMap: { name: 'string', defaultMode: 'integer', optional: 'boolean' },
  secret: { secretName: 'string', defaultMode: 'integer', optional: 'boolean' },
  persistentVolumeClaim: { claimName: 'string', readOnly: 'boolean' },
  emptyDir: { sizeLimit: 'string', medium: 'string' },
} as const;

const POD = {
  serviceAccountName: 'string',
  automountServiceAccountToken: 'boolean',
  enableServiceLinks: 'boolean',
  terminationGracePeriodSeconds: 'integer',
  securityContext: {
    runAsNonRoot: 'boolean',
    runAsUser: 'integer',
    runAsGroup: 'integer',
    fsGroup: 'integer',
    fsGroupChangePolicy: 'string',
    seccompProfile: SECCOMP,
  },
  topologySpreadConstraints: [
    {
      maxSkew: 'integer',
      topologyKey: 'string',
      whenUnsatisfiable: 'string',
      labelSelector: SELECTOR,
    },
  ],
  containers: [CONTAINER],
  volumes: [VOLUME],
} as const;

const RULE = {
  alert: 'string',
  record: 'string',
  expr: 'integer or string',
  for: 'string',
  keep_firing_for: 'string',
  labels: 'map',
  annotations: 'map',
} as const;

/** `APIVERSION KIND` → what it may have beside those two and `metadata`. */
const KINDS: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  'v1 Namespace': {},
  'v1 ServiceAccount': { automountServiceAccountToken: 'boolean' },
  'v1 ConfigMap': { data: 'map', immutable: 'boolean' },
  'v1 Service': {
    spec: {
      type: 'string',
      selector: 'map',
      publishNotReadyAddresses: 'boolean',
      ports: [
        { name: 'string', port: 'integer', targetPort: 'integer or string', protocol: 'string' },
      ],
    },
  },
  'v1 PersistentVolumeClaim': {
    spec: {
      accessModes: ['string'],
      storageClassName: 'string',
      resources: { requests: 'amounts', limits: 'amounts' },
    },
  },
  'apps/v1 Deployment': {
    spec: {
      replicas: 'integer',
      selector: SELECTOR,
      strategy: {
        type: 'string',
        rollingUpdate: { maxUnavailable: 'integer or string', maxSurge: 'integer or string' },
      },
      template: { metadata: METADATA, spec: POD },
    },
  },
  'policy/v1 PodDisruptionBudget': {
    spec: {
      minAvailable: 'integer or string',
      maxUnavailable: 'integer or string',
      unhealthyPodEvictionPolicy: 'string',
      selector: SELECTOR,
    },
  },
  'networking.k8s.io/v1 NetworkPolicy': {
    spec: {
      podSelector: SELECTOR,
      policyTypes: ['string'],
      ingress: [{ from: [PEER], ports: [POLICY_PORT] }],
      egress: [{ to: [PEER], ports: [POLICY_PORT] }],
    },
  },
  'monitoring.coreos.com/v1 ServiceMonitor': {
    spec: {
      selector: SELECTOR,
      namespaceSelector: { any: 'boolean', matchNames: ['string'] },
      endpoints: [{ port: 'string', path: 'string', interval: 'string', scrapeTimeout: 'string' }],
    },
  },
  'monitoring.coreos.com/v1 PrometheusRule': {
    spec: { groups: [{ name: 'string', interval: 'string', rules: [RULE] }] },
  },
};

/** What is wrong with an object, each with its place; empty if a server takes it as it is. */
export function faultsOf(object: unknown): string[] {
  const { apiVersion, kind, metadata, ...rest } = object as Readonly<Record<string, unknown>>;
  const shape = KINDS[`${String(apiVersion)} ${String(kind)}`];
  if (shape === undefined) return [`${String(apiVersion)} ${String(kind)} is unknown`];
  return [
    ...faultsIn(metadata, METADATA, `${String(kind)}.metadata`),
    ...faultsIn(rest, shape, String(kind)),
  ];
}

function faultsIn(value: unknown, shape: Shape, place: string): string[] {
  if (typeof shape === 'string') return hasType(value, shape) ? [] : [`${place} is no ${shape}`];
  if (isList(shape)) {
    if (!Array.isArray(value)) return [`${place} is no list`];
    return value.flatMap((each, index) => faultsIn(each, shape[0], `${place}[${index}]`));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [`${place} is no object`];
  }
  return Object.entries(value).flatMap(([member, each]) => {
    const known = Object.hasOwn(shape, member) ? shape[member] : undefined;
    const where = `${place}.${member}`;
    return known === undefined ? [`${where} is unknown`] : faultsIn(each, known, where);
  });
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

function hasType(value: unknown, type: Extract<Shape, string>): boolean {
  if (type === 'boolean' || type === 'string') return typeof value === type;
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'integer or string') return Number.isInteger(value) || typeof value === 'string';
  const isText = (each: unknown): boolean =>
    typeof each === 'string' || (type === 'amounts' && typeof each === 'number');
  return typeof value === 'object' && value !== null && Object.values(value).every(isText);
}

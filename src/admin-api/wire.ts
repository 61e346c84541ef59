/**
 * Bodies of requests and answers of the administration service, exactly as they are sent: all that client and service
 * share. Fields that the service may leave out are optional. Answers may hold further fields, which are preserved.
 */

export const API_PREFIX = '/internal/api/v2';

export const MAX_KEYS_PER_REQUEST = 10_000;
export const MAX_KEYS_PER_SEGMENT = 100_000;

export interface WirePage<T> {
  objects: T[];
  offset: number;
  limit: number;
  totalCount: number;
}

export interface WireRef {
  id: string;
  name: string;
}

export interface WireWorkspace extends WireRef {
  type: 'workspace';
  requiresTitleAndComments: boolean;
}

export interface WireEnvironment extends WireRef {
  production: boolean;
}

export interface WireTrafficType extends WireRef {
  displayAttributeId?: string | null;
  workspace?: { type: 'workspace'; id: string };
}

export interface WireRolloutStatus extends WireRef {
  description: string;
}

export interface WireSegment {
  name: string;
  description: string | null;
  trafficType: WireRef;
  /** Milliseconds since the epoch. */
  creationTime: number;
  tags: { name: string }[] | null;
}

export interface WireFlag extends WireSegment, WireRef {
  rolloutStatus: WireRef | null;
  rolloutStatusTimestamp: number | null;
}

export interface WireTreatment {
  name: string;
  description?: string | null;
  /** JSON text. */
  configurations?: string;
  /** Individual targets; a set. */
  keys?: string[];
  /** Names of segments that are targeted as a whole; a set. Absent when empty. */
  segments?: string[];
}

export interface WireBucket {
  treatment: string;
  /** Whole per cent; the sizes of one list sum to 100. */
  size: number;
}

/** One matcher. Its further fields depend on `type`; unknown types are preserved. */
export interface WireMatcher {
  type: string;
  negate?: boolean;
  attribute?: string;
  [field: string]: unknown;
}

export interface WireRule {
  buckets: WireBucket[];
  condition: { combiner?: string; matchers: WireMatcher[] };
}

/** What a creation of a definition sends. */
export interface WireContent {
  killed: boolean;
  treatments: WireTreatment[];
  defaultTreatment: string;
  baselineTreatment: string;
  trafficAllocation: number;
  rules: WireRule[];
  defaultRule: WireBucket[];
}

export interface WireDefinition extends WireContent, WireRef {
  environment: WireRef;
  trafficType: WireRef;
  creationTime: number;
  lastUpdateTime: number;
  /** Milliseconds since the epoch of the newest traffic; null if there was none. Only some services show it. */
  lastTrafficReceivedAt?: number | null;
  openChangeRequestId?: string | null;
  /** The seeds that evaluators hash keys with. Beyond the contract, so that only some services show them. */
  seed?: number;
  trafficAllocationSeed?: number;
}

export interface WireSegmentInEnvironment {
  name: string;
  environment: WireRef;
  trafficType: WireRef;
  creationTime: number;
}

export interface WireSegmentDefinition {
  environmentURN: WireRef & { type: 'Environment' };
  name: string;
  description: string | null;
  status: string;
  creationTime: number;
  lastUpdateTime: number;
  type: 'Segment';
  openChangeRequestId?: string | null;
}

export interface WireSegmentKeys {
  keys: { key: string }[];
  openChangeRequestId: string | null;
  /** Keys in the whole segment on our service; the contract leaves open whether it counts only those of the page. */
  count: number;
  offset: number;
  limit: number;
}

/** Only public documentation shows it: services differ in where they keep the comment and the time. */
export interface WireChangeRequest {
  id: string;
  operationType: string;
  comment?: string | undefined;
  split?: { name: string } | undefined;
  segment?: { name: string } | undefined;
  approvers: string[];
  comments: { comment: string | null; user: string | null; role: string; timestamp?: number }[];
  creationTime?: number | undefined;
}

export interface WireIdentity {
  key: string;
  values: Record<string, string>;
}

export interface WireIdentitiesResult {
  objects: WireIdentity[];
  failed: { object: unknown; status: number; message: string }[];
}

export interface WirePatchOperation {
  op: 'add' | 'replace' | 'remove';
  /** JSON Pointer (RFC 6901). */
  path: string;
  value?: unknown;
}

export interface WireError {
  /** Equal to the HTTP status. */
  code: number;
  message: string;
  details: string | null;
  transactionId: string | null;
}

/** The patch that kills a definition; all other fields stay unchanged. */
export const KILL: readonly WirePatchOperation[] = [
  { op: 'replace', path: '/killed', value: true },
];

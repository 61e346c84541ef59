import { flag, integer, list, optional, shape, text } from './shapes.js';
import type {
  WireDefinition,
  WireEnvironment,
  WireFlag,
  WireRef,
  WireRolloutStatus,
  WireSegment,
  WireSegmentInEnvironment,
  WireSegmentKeys,
  WireTrafficType,
  WireWorkspace,
} from './wire.js';

/** What each kind of answer must at least hold. */

const ref = shape<WireRef>({ id: text, name: text });
const bucket = shape({ treatment: text, size: integer });
const matcher = shape({ type: text });

export const workspace = shape<WireWorkspace>({ id: text, name: text });

export const environment = shape<WireEnvironment>({
  id: text,
  name: text,
  production: optional(flag),
});

export const rolloutStatus = shape<WireRolloutStatus>({ id: text, name: text });

export const trafficType = shape<WireTrafficType>({ id: text, name: text });

export const flagAnswer = shape<WireFlag>({
  id: text,
  name: text,
  trafficType: ref,
  rolloutStatus: optional(ref),
  tags: optional(list(shape({ name: text }))),
});

export const definition = shape<WireDefinition>({
  id: text,
  name: text,
  trafficType: ref,
  killed: flag,
  treatments: list(shape({ name: text, keys: optional(list(text)) })),
  defaultTreatment: text,
  baselineTreatment: text,
  trafficAllocation: integer,
  rules: list(shape({ buckets: list(bucket), condition: shape({ matchers: list(matcher) }) })),
  defaultRule: list(bucket),
});

export const segment = shape<WireSegment>({ name: text, trafficType: ref });

export const segmentInEnvironment = shape<WireSegmentInEnvironment>({ name: text });

export const segmentKeys = shape<WireSegmentKeys>({
  keys: list(shape({ key: text })),
  count: integer,
  openChangeRequestId: optional(text),
});

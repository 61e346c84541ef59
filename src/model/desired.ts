import type { LintSpec } from '../generated/config.schema.d.js';
import type { Definition, FlagFields } from './flag/flag.js';
import type { DesiredRamp } from './flag/ramp.js';
import type { NamedConditions } from './matcher/named-conditions.js';
import type { Identities } from './identities.js';
import type { KeyList } from './segment-keys.js';
import type { Location } from './diagnostic.js';

/** The objects that specs declare, kind by kind. Every map iterates in code-unit order of its keys. */
export interface DesiredObjects {
  readonly flags: ReadonlyMap<string, DesiredFlag>;
  readonly segments: ReadonlyMap<string, DesiredSegment>;
  /** One for each traffic type and environment (as the config names it), in their order. */
  readonly identities: readonly DesiredIdentities[];
}

/** What the specs of one commit say should be. */
export interface Desired extends DesiredObjects {
  readonly config: Config;
  /** Break-glass entries. */
  readonly kills: readonly DesiredKill[];
  /** Environments, as the config names them, whose break-glass list is there: only such a list can take an entry back. */
  readonly killLists: ReadonlySet<string>;
}

/** What specs say that declare nothing and kill nothing. */
export const NOTHING_DESIRED: Omit<Desired, 'config'> = {
  flags: new Map(),
  segments: new Map(),
  identities: [],
  kills: [],
  killLists: new Set(),
};

export type RemovePolicy = 'delete' | 'archive';
export type DriftPolicy = 'revert' | 'report';
export type ConflictPolicy = 'apply' | 'hold';
export type LiveKillPolicy = 'keep' | 'revert';

export interface Guards {
  readonly maxDeletes?: number;
  /** Whole per cent. */
  readonly maxDeletePercent?: number;
  readonly maxKeyRemovals?: number;
  readonly maxKeyRemovalPercent?: number;
  /** Whole per cent of the traffic that one flag may serve another treatment. */
  readonly maxShift?: number;
}

/** Hours in which changes may go, by the clock on the wall of a zone. */
export interface TimeWindow {
  readonly name: string;
  /** Days on which it opens: 1 is Monday, 7 is Sunday. At least one. */
  readonly days: readonly number[];
  /** Minutes since midnight; open from here on. */
  readonly fromMinute: number;
  /** Closed from here on, up to 1440. Where it is the lesser of the two the window ends on the next day. */
  readonly toMinute: number;
  readonly zone: string;
}

/** A time in which nothing may be changed but kills and what takes them back. */
export interface Freeze {
  readonly name: string;
  /** Milliseconds since the epoch; frozen from here on. */
  readonly fromMs: number;
  /** Later than the beginning; not frozen any more. */
  readonly toMs: number;
  /** In which people read its end. */
  readonly zone: string;
  readonly reason?: string;
  /** As the config names them. Absent: all. */
  readonly environments?: readonly string[];
}

/** What is asked before a step of a ramp. */
export interface RampCheck {
  readonly name: string;
  /** Asked with GET; http or https, without credentials. */
  readonly url: string;
  readonly timeoutMs: number;
  /** Where the value stands in the answer; absent: any answer of 2xx will do. */
  readonly value?: { readonly pointer: string } | 'prometheus';
  readonly equals?: string | number | boolean;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** flagkeel.yaml, complete but for what only the service knows. */
export interface Config {
  /** Name or id. */
  readonly workspace: string;
  /** Environments in the order of application. */
  readonly environments: readonly EnvironmentConfig[];
  /** A proposal: the operator decides where the key goes. */
  readonly serviceUrl?: string;
  readonly serviceUrlLocation?: Location;
  readonly defaultTrafficType?: string;
  readonly references: { readonly segments: readonly string[]; readonly flags: readonly string[] };
  readonly prune: boolean;
  /** What becomes of a flag that is pruned whole. Absent: it is deleted. */
  readonly onRemove?: RemovePolicy;
  readonly suspend: boolean;
  /** Absent: the state is shared over origin where that can be done (`auto`). */
  readonly pushState?: boolean;
  readonly guards: Guards;
  /** Absent: `revert`, and `report` in a protected environment. Likewise below. */
  readonly onDrift?: DriftPolicy;
  readonly onConflict?: ConflictPolicy;
  readonly onLiveKill?: LiveKillPolicy;
  readonly lint?: LintSpec;
  /** Absent: there are none. Likewise below. */
  readonly conditions?: NamedConditions;
  readonly windows?: readonly TimeWindow[];
  readonly freezes?: readonly Freeze[];
  readonly checks?: readonly RampCheck[];
}

export interface EnvironmentConfig {
  /** Name or id, as the config writes it. */
  readonly name: string;
  /** Absent: the service's own `production`. */
  readonly protected?: boolean;
  readonly onDrift?: DriftPolicy;
  readonly onConflict?: ConflictPolicy;
  readonly onLiveKill?: LiveKillPolicy;
  readonly guards: Guards;
  /** Names of the windows in which changes may go. Absent: at any time. */
  readonly windows?: readonly string[];
}

export interface DesiredFlag {
  readonly name: string;
  readonly location: Location;
  readonly trafficType: string;
  /** `tags` and the like; an absent field is not managed. */
  readonly fields: FlagFields;
  /** Never deleted, in no environment. */
  readonly protect?: true;
  /** Day after which it should be gone (`2026-10-03`). */
  readonly expires?: string;
  /** Environment, as the config names it → definition. */
  readonly environments: ReadonlyMap<string, DesiredDefinition>;
}

export interface DesiredDefinition {
  readonly location: Location;
  /** The managed fields. */
  readonly fields: Definition;
  /** Every field, for the creation: those in `fields`, and those which are set once and then left alone. */
  readonly creation: Required<Definition>;
  /** The names of `fields.rules`, position by position; for people only. */
  readonly ruleNames: readonly (string | undefined)[];
  /** How some of its rules grow by themselves. Absent: none does. */
  readonly ramps?: readonly DesiredRamp[];
  /** Guards that may be passed; each counts for the change that it came with. */
  readonly allow?: readonly Allowance[];
}

export interface Allowance {
  readonly guard: 'maxShift' | 'fullFlip';
  readonly reason: string;
}

export type SegmentMode = 'exact' | 'add-only' | 'external';

export interface DesiredSegment {
  readonly name: string;
  readonly location: Location;
  readonly trafficType: string;
  /** Set at creation only: the service cannot change it. */
  readonly description: string;
  /** Never deleted, in no environment. */
  readonly protect?: true;
  /** Environment, as the config names it → activation. */
  readonly environments: ReadonlyMap<string, DesiredActivation>;
}

export interface DesiredActivation {
  readonly location: Location;
  readonly mode: SegmentMode;
  /** Absent: only the activation is ours. */
  readonly keys?: KeyList;
  /** Path of the key file, if there is one. */
  readonly keysFile?: string;
}

export interface DesiredIdentities {
  readonly location: Location;
  readonly trafficType: string;
  readonly environment: string;
  readonly keys: Identities;
}

export interface DesiredKill {
  readonly flag: string;
  readonly environment: string;
  readonly location: Location;
  readonly reason: string;
  readonly by?: string;
  readonly since?: string;
  readonly review?: string;
}

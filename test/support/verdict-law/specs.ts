import { stringify } from 'yaml';

/** The restricted form of the specs that the histories write. */

export const FLAGS = ['f0', 'f1', 'f2'] as const;
export type FlagName = (typeof FLAGS)[number];
/** `eu` wants approvals on the service; not every history has it. */
export const ENVIRONMENTS = ['staging', 'production', 'eu'] as const;
export type EnvironmentName = (typeof ENVIRONMENTS)[number];

/** Percentages of `on`; a ramp begins at a time and grows by one step each six hours. */
export interface Block {
  share: number;
  allocation: number;
  killed: boolean | undefined;
  /** Milliseconds since the epoch at which the first step is due. */
  rampFrom: number | undefined;
}

export interface Said {
  workspace: string;
  environments: EnvironmentName[];
  onDrift: 'revert' | 'report';
  onConflict: 'apply' | 'hold';
  prune: boolean;
  suspend: boolean;
  hasWindow: boolean;
  /** Milliseconds since the epoch, of production alone. */
  freeze: readonly [from: number, to: number] | undefined;
  /** The config names an environment that the service lacks. */
  isMissing: boolean;
  /** The file of the first flag is no YAML. */
  isBroken: boolean;
  flags: Partial<Record<FlagName, Partial<Record<EnvironmentName, Block>>>>;
  /** Flags in the break-glass list of production. */
  kills: FlagName[];
}

/** The text of a file that is no YAML. */
export const BROKEN = 'flag: [';

export const STEPS = [10, 40, 80] as const;
export const STEP_HOURS = 6;

/** Path below the config directory → text. */
export function filesOf(said: Said): ReadonlyMap<string, string> {
  const files = new Map([['flagkeel.yaml', stringify(configOf(said))]]);
  for (const name of FLAGS) {
    const blocks = said.flags[name];
    if (blocks === undefined) continue;
    const text = stringify(flagOf(name, blocks));
    files.set(`flags/${name}.yaml`, said.isBroken && name === 'f0' ? BROKEN : text);
  }
  const kills = Object.fromEntries(said.kills.map((name) => [name, { reason: 'INC-1' }]));
  files.set('kills/production.yaml', stringify({ kills }));
  return files;
}

function configOf(said: Said): object {
  const { workspace, onDrift, onConflict, prune, suspend, hasWindow, freeze, isMissing } = said;
  const policy = { onDrift, onConflict };
  const blocks = said.environments.map((name) => {
    const windows = name === 'production' && hasWindow ? { windows: ['office'] } : {};
    return [name, { ...policy, ...windows }] as const;
  });
  const missing = isMissing ? { nowhere: {} } : {};
  return {
    workspace,
    environments: { ...Object.fromEntries(blocks), ...missing },
    ...policy,
    defaults: { trafficType: 'user' },
    prune,
    ...(suspend && { suspend }),
    guards: {
      maxDeletes: 100,
      maxDeletePercent: 100,
      maxShift: 100,
    },
    ...(hasWindow && { windows: { office: { from: '09:00', to: '17:00', zone: 'UTC' } } }),
    ...(freeze && { freezes: { fair: frozen(freeze) } }),
  };
}

function frozen([from, to]: readonly [number, number]): object {
  return { from: isoMinute(from), to: isoMinute(to), environments: ['production'] };
}

function isoMinute(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16)}+00:00`;
}

function flagOf(name: string, blocks: Partial<Record<EnvironmentName, Block>>): object {
  const environments = Object.entries(blocks).map(([environment, block]) => {
    const { share, allocation, killed, rampFrom } = block;
    return [
      environment,
      {
        trafficAllocation: allocation,
        ...(rampFrom === undefined
          ? { defaultRule: { on: share, off: 'rest' } }
          : { defaultRule: 'off', ramp: rampOf(rampFrom) }),
        ...(killed !== undefined && { killed }),
      },
    ] as const;
  });
  return {
    flag: name,
    treatments: { on: '', off: '' },
    defaultTreatment: 'off',
    environments: Object.fromEntries(environments),
  };
}

function rampOf(from: number): object {
  const steps = STEPS.map((percent, index) => ({
    percent,
    ...(index > 0 && { after: `${String(STEP_HOURS)}h` }),
  }));
  return { treatment: 'on', start: isoMinute(from), steps };
}

import { decidersText, type ChangeRequest } from './change-request.js';
import {
  FORCED_GUARDS,
  isCreation,
  type GuardFinding,
  type LiveKill,
  type Withheld,
  type WithheldWhy,
} from './plan.js';
import type { OutcomeError } from './outcome.js';
import { keyOfId, refOfId, type ObjectId } from './ref.js';
import type { RunOptions } from './run.js';

/** A way out of a hold or a failure. Data: `report/view/verdict.ts` has the words. */
export interface Remedy {
  /** The exact obstacle, as a clause; may contain text of the service. Null if the reason itself says it all. */
  readonly because: string | null;
  /** One is enough; the one that loses least comes first. Empty if another object with its own ways is the obstacle. */
  readonly ways: readonly Way[];
}

export type Way =
  | {
      /** Arguments of `flagkeel`, to be run in the config directory. Filters for objects come last. */
      readonly run: readonly string[];
      /** Effect, as an infinitive without `to`. */
      readonly to: string;
      /** Clause: what has to be done elsewhere before. */
      readonly once?: string;
    }
  | {
      /** One line, or several members, of YAML to put into a file and commit. */
      readonly write: string;
      /** Relative to the config directory; null if the specs no longer have the object. */
      readonly file: string | null;
      /** Mapping of the file that gets the line; unset for the top. */
      readonly under?: string;
      readonly to: string;
    }
  /** Clause: other work on files, which ends with a commit. */
  | { readonly edit: string }
  /** Clause: work on the service or the forge. */
  | { readonly elsewhere: string };

/** The parts of a withheld change, or of its document, that decide about its remedy. */
export type Remediable = Pick<Withheld, 'id' | 'why' | 'action' | 'fields' | 'archive' | 'until'> &
  Partial<Pick<Withheld, 'because' | 'place' | 'location' | 'request' | 'ofConfig' | 'suspended'>>;

export function remedyOf(withheld: Remediable): Remedy {
  const ways = WAYS[withheld.why](withheld);
  return {
    because: withheld.because ?? null,
    ways: withheld.suspended ? ways.map(afterSuspension) : ways,
  };
}

function afterSuspension(way: Way): Way {
  const isRun = 'run' in way && way.run[0] === 'reconcile';
  return isRun ? { ...way, once: 'the suspension is over' } : way;
}

const WAYS: Readonly<Record<WithheldWhy, (withheld: Remediable) => readonly Way[]>> = {
  'prune-off': ({ id, archive }) => [
    onlyThis(id, `${archive ? 'archive' : 'delete'} it`, 'reconcile', '--prune'),
    { write: 'prune: true', file: CONFIG, to: 'have every run do that' },
  ],
  protected: () => [
    {
      edit: 'bring it back, take `protect: true` out of it in one commit, and remove it in the next',
    },
  ],
  'no-witness': ({ id }) => [
    { elsewhere: 'delete it on the service by hand' },
    forget(id, 'leave it there and forget it here'),
  ],
  'not-ours': ({ id }) => [
    { edit: 'declare it again with its live values to take it over' },
    { elsewhere: 'delete it on the service by hand' },
    forget(id, 'leave it to its maker'),
  ],
  'still-in-use': () => [],
  'drift-reported': driftWays,
  contested: driftWays,
  'conflict-held': (withheld) => [
    ...keepLive(withheld),
    {
      write: 'onConflict: apply',
      file: CONFIG,
      under: environmentBlock(withheld),
      to: 'have runs write what git says',
    },
  ],
  'adopt-needed': (withheld) => [
    onlyThis(withheld.id, 'write what git says', 'reconcile', '--adopt'),
    ...(isCreation(withheld) ? [] : keepLive(withheld)),
  ],
  immutable: writeLive,
  'live-kill': (kill) => killRemedy(kill).ways,
  'approval-needed': ({ request }) => waysOfRequest(request),
  suspended: ({ until }) =>
    until === undefined
      ? [{ write: 'suspend: false', file: CONFIG, to: 'let runs write again' }]
      : [{ elsewhere: `resume, or wait until ${until}` }],
  'ramp-held': (withheld) => [
    // A share that git wrote itself is no drift that could be adopted.
    ...(withheld.fields.some(({ reason }) => reason === 'commit')
      ? [{ edit: 'write the live value into the files' }]
      : keepLive(withheld)),
    onlyThis(
      withheld.id,
      'write the share of the ramp',
      'reconcile',
      '--revert-drift',
      // Else it would be held for its adoption.
      ...(withheld.fields.some(({ reason }) => ['adopt', 'unknown'].includes(reason))
        ? ['--adopt']
        : []),
    ),
  ],
  'check-failed': () => [
    { edit: 'write `hold: true` in the ramp, and `hold: false` when it may go on' },
    { edit: 'change the steps of the ramp, or write the present share in its place' },
  ],
  'window-closed': ({ id }) => [
    onlyThis(id, 'write it now', 'reconcile', '--override-window', 'REASON'),
  ],
  'needs-withheld': () => [],
  'not-reviewed': ({ id, because }) => [
    { elsewhere: 'run the apply of its own review again' },
    ...(because ? [{ elsewhere: 'approve its plan below its pull request' }] : []),
    onlyThis(id, 'apply it without that review', 'reconcile'),
  ],
  'not-remembered': ({ id }) => [onlyThis(id, 'write them all', 'reconcile', '--identities')],
  'stays-on-service': () => [{ elsewhere: 'where that matters, delete it there by hand' }],
};

/** @param request ours, or that of others; unset if nothing is known of one. */
export function waysOfRequest(request: ChangeRequest | undefined): Way[] {
  if (request === undefined) return [{ elsewhere: 'have it approved or closed there' }];
  if (request.is === 'open') {
    return [{ elsewhere: `have it decided on the service by ${decidersText(request)}` }];
  }
  return [
    { edit: 'change it in git, so that the next run asks anew' },
    { edit: 'take it back in git' },
  ];
}

const CONFIG = 'flagkeel.yaml';

function onlyThis(
  id: ObjectId,
  to: string,
  ...args: readonly string[]
): Extract<Way, { run: unknown }> {
  return { run: [...args, '--only', keyOfId(id)], to };
}

function forget(id: ObjectId, to: string): Way {
  return { run: ['state', 'rm', keyOfId(id)], to };
}

function keepLive(withheld: Remediable): Way[] {
  if (isCreation(withheld)) return [{ edit: 'take it out of git' }];
  if (withheld.ofConfig) return [];
  return [
    onlyThis(withheld.id, 'write what is live into the files, and commit', 'drift', '--adopt'),
  ];
}

function driftWays(withheld: Remediable): Way[] {
  return [
    ...keepLive(withheld),
    onlyThis(withheld.id, 'write what git says', 'reconcile', '--revert-drift'),
  ];
}

/** In flagkeel.yaml; a change of the whole workspace concerns all environments. */
function environmentBlock({ id, place }: Remediable): string {
  const environment = place ?? refOfId(id)?.environment ?? null;
  return environment === null ? 'each environment' : `environments.${environment}`;
}

/** The ways out where the service set fields at the creation of the object. */
function writeLive({ fields, location }: Remediable): Way[] {
  const lines = fields.map(({ path, before }) => `${path.slice(1)}: ${asYaml(before)}`);
  return [
    { write: lines.join('\n'), file: location?.file ?? null, to: 'say what the service has' },
    { edit: 'choose another name' },
  ];
}

/** A scalar that YAML reads as this text. */
function asYaml(value: unknown): string {
  const text = String(value);
  return /^[a-z][\w-]*$/i.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text);
}

/** The ways out of a kill that git does not order. */
export function killRemedy(kill: Pick<LiveKill, 'id' | 'place' | 'comesBack'>): Remedy {
  const { id, place, comesBack } = kill;
  const { name = '', environment = '' } = refOfId(id) ?? {};
  const at = [name, '--environment', place ?? environment ?? ''];
  const once = comesBack && { once: 'it is there again' };
  return {
    because: null,
    ways: [
      { run: ['restore', ...at], to: 'bring it back', ...once },
      { run: ['kill', ...at], to: 'have git order the kill', ...once },
    ],
  };
}

/** Failures with an obstacle that another try alone would meet again. */
const NO_MERE_RETRY: Readonly<Partial<Record<OutcomeError['code'], (id: ObjectId) => Way[]>>> = {
  NAME_ARCHIVED: (id) => [
    {
      ...onlyThis(id, 'take it over', 'reconcile', '--adopt'),
      once: 'it is unarchived on the service',
    },
    { edit: 'give the new flag another name' },
  ],
  // Not this object alone: all writes that followed were refused too.
  UNAUTHORISED: () => [
    { run: ['reconcile'], to: 'try again', once: 'runs have a key that the service accepts' },
  ],
};

export function retryRemedy(
  id: ObjectId,
  because: string | null,
  error?: Pick<OutcomeError, 'code'>,
): Remedy {
  const ways = error && NO_MERE_RETRY[error.code]?.(id);
  return { because, ways: ways ?? [onlyThis(id, 'try again', 'reconcile')] };
}

export interface Refusal {
  readonly planHash: string;
  readonly findings: readonly Pick<GuardFinding, 'guard'>[];
  /** Options of the refused run, which decide what its plan contains. */
  readonly options: readonly string[];
}

export function guardRemedy({ planHash, findings, options }: Refusal): Remedy {
  const isForced = findings.some(({ guard }) => FORCED_GUARDS.has(guard));
  const force = isForced ? ['--force'] : [];
  const run = ['reconcile', ...force, '--approve', planHash, ...options];
  return { because: null, ways: [{ run, to: 'let this plan and no other pass, once reviewed' }] };
}

/** The options that a further run needs to make the same plan. */
export function planOptionsOf(options: RunOptions): string[] {
  const flag = (name: string, isSet: boolean | undefined): string[] => (isSet ? [name] : []);
  const value = (name: string, given: string | undefined): string[] =>
    given === undefined ? [] : [name, given];
  const { embedded } = options;
  return [
    ...flag('--embedded', embedded),
    ...(embedded ? value('--embedded-dir', options.embeddedDir) : value('--url', options.url)),
    ...flag('--prune', options.prune),
    ...flag('--adopt', options.adopt),
    ...flag('--revert-drift', options.revertDrift),
    ...flag('--identities', options.identities),
    ...flag('--allow-older', options.allowOlder === true),
    ...flag('--touched', options.touchedSince === 'state'),
    ...value('--since', options.since),
    ...value('--override-window', options.overrideWindow),
    ...options.environments.flatMap((each) => ['--environment', each]),
    ...filterOptionsOf(options),
  ];
}

export function filterOptionsOf({
  only,
  exclude = [],
  tags = [],
  owners = [],
}: Pick<RunOptions, 'only' | 'exclude' | 'tags' | 'owners'>): string[] {
  return [
    ...only.flatMap((each) => ['--only', each]),
    ...exclude.flatMap((each) => ['--exclude', each]),
    ...tags.flatMap((each) => ['--tag', each]),
    ...owners.flatMap((each) => ['--owner', each]),
  ];
}

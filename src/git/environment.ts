import { devNull } from 'node:os';

/**
 * Settings that stand above those of the repository, because git would run a program, wait for a person, or touch
 * the network by its word, or leave out what it says of commits. The repository's own config is untrusted input like everything else in it.
 *
 * Two kinds of program need no setting. Git starts a pager only for a terminal, and its output is always a pipe here;
 * and it starts a diff program only for a patch, which no command here prints.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  'core.hooksPath': devNull,
  'core.fsmonitor': 'false',
  'core.attributesFile': devNull,
  'core.excludesFile': devNull,
  // What a run remembers must outlive a power cut: it is written before the request that it speaks of.
  'core.fsync': 'committed,reference',
  'log.showSignature': 'false',
  'log.showRoot': 'true',
  'log.follow': 'false',
  'diff.orderFile': devNull,
  'commit.gpgSign': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
};

/**
 * Settings for the commands that fetch and push, above the operator's own. What comes from somewhere else is looked at before it
 * is kept, and nothing but what was named is fetched or pushed.
 */
const NETWORK_SETTINGS: Readonly<Record<string, string>> = {
  'fetch.recurseSubmodules': 'false',
  'push.recurseSubmodules': 'no',
  'push.gpgSign': 'false',
  'transfer.fsckObjects': 'true',
};

/**
 * One git server, as the operator said that it is to be spoken to; nothing here comes from a repository.
 *
 * Both are asked for every command, so that a credential that was rotated in its file is picked up.
 */
export interface RemoteAccess {
  /** Without credentials. */
  readonly url: string;
  /** Settings of git, such as the header that holds a token: they are seen in no list of processes. */
  readonly settings: () => Readonly<Record<string, string>>;
  readonly variables: () => Readonly<Record<string, string>>;
  /** What the operator can do where the server refuses us, in a clause; absent: nothing that we know of. */
  readonly remedy?: string;
}

/** Where a command may go: nowhere, or to one server. */
export type NetworkAccess = 'local' | RemoteAccess;

/** Of the operator's own environment: what git, ssh and credential helpers find the operator's settings and keys by. */
const OPERATORS = [
  'HOME',
  'USER',
  'LOGNAME',
  'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'SSH_AUTH_SOCK',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'GIT_ASKPASS',
  'GIT_SSL_CAINFO',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'HTTPS_PROXY',
  'https_proxy',
  'http_proxy',
  'ALL_PROXY',
  'all_proxy',
  'NO_PROXY',
  'no_proxy',
] as const;

/** Without a network the operator's own settings have no word: what git prints is to be the same everywhere. */
const ALONE = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: devNull, GIT_ALLOW_PROTOCOL: 'none' };

function networkVariables(reach: NetworkAccess): Record<string, string> {
  if (reach === 'local') return ALONE;
  const given = OPERATORS.flatMap((name) => {
    const value = process.env[name];
    return value === undefined || value === '' ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(given), ...reach.variables() };
}

/** The repository that a process works in. */
export interface GitPlace {
  /** The one directory whose repository git may open although somebody else owns it; null: none. */
  readonly trusted: string | null;
  /** Where git has to look, whatever a config says of it; absent: it looks from the working directory upwards. */
  readonly place?: Readonly<Partial<Record<'GIT_DIR' | 'GIT_WORK_TREE', string>>>;
}

/**
 * The whole environment of every git process: nothing is inherited but the way to the binary.
 *
 * @param reach only the commands that fetch and push may use the network, with the operator's own settings and credentials for
 *   it. They run in a repository of ours, see `Repository.ours`: the config of a checkout could name programs and other places.
 */
export function gitEnvironment(
  { trusted, place }: GitPlace,
  reach: NetworkAccess = 'local',
): Record<string, string> {
  const settings = Object.entries({
    ...SETTINGS,
    ...(reach !== 'local' && { ...NETWORK_SETTINGS, ...reach.settings() }),
    // An empty value empties the list: nothing is trusted then but what the user owns.
    'safe.directory': trusted ?? '',
  });
  return {
    PATH: process.env['PATH'] ?? '',
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ATTR_NOSYSTEM: '1',
    // A missing object of a partial clone is an error, never a silent fetch: older versions know only the second.
    GIT_NO_LAZY_FETCH: '1',
    // Replaced objects would make a commit say what it does not.
    GIT_NO_REPLACE_OBJECTS: '1',
    ...networkVariables(reach),
    ...place,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${String(index)}`, key],
        [`GIT_CONFIG_VALUE_${String(index)}`, value],
      ]),
    ),
  };
}

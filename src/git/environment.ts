import { devNull } from 'node:os';

export interface GitPlace {
  /** The only directory whose repository git may open although another user owns it. */
  readonly trusted: string | null;
  /** Fixed places, which no config overrules. Default: git searches from the working directory upwards. */
  readonly place?: Readonly<Partial<Record<'GIT_DIR' | 'GIT_WORK_TREE' | 'GNUPGHOME', string>>>;
}

/**
 * Settings that overrule those of the repository. Its config is untrusted input like all its content: it could make git
 * run a program, wait for a person, use the network, or hide parts of commits.
 *
 * A pager and a diff program need no setting: git starts the one only for a terminal, and the other only for a patch.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  'core.hooksPath': devNull,
  'core.fsmonitor': 'false',
  'core.attributesFile': devNull,
  'core.excludesFile': devNull,
  // The state is written before the request that it records, and must outlive a power cut.
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
 * Settings for fetch and push that overrule the operator's own: git checks received objects before it keeps them, and
 * moves no refs but the named ones.
 */
const NETWORK_SETTINGS: Readonly<Record<string, string>> = {
  'fetch.recurseSubmodules': 'false',
  'push.recurseSubmodules': 'no',
  'push.gpgSign': 'false',
  'transfer.fsckObjects': 'true',
};

/**
 * One git server, as the operator named it; nothing here comes from a repository. Settings and variables are asked for
 * every command, so that a rotated credential takes effect.
 */
export interface RemoteAccess {
  /** Without credentials. */
  readonly url: string;
  /** Settings of git, such as the header that holds a token: they are seen in no list of processes. */
  readonly settings: () => Readonly<Record<string, string>>;
  readonly variables: () => Readonly<Record<string, string>>;
  /** Advice for the operator if the server refuses us, as a clause. */
  readonly remedy?: string;
}

export type NetworkAccess = 'local' | RemoteAccess;

/** Variables of the operator's environment by which git, ssh and credential helpers find settings and keys. */
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

/** Without a network, the operator's own settings are ignored, so that git prints the same everywhere. */
const ALONE = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: devNull, GIT_ALLOW_PROTOCOL: 'none' };

function networkVariables(reach: NetworkAccess): Record<string, string> {
  if (reach === 'local') return ALONE;
  const given = OPERATORS.flatMap((name) => {
    const value = process.env[name];
    return value === undefined || value === '' ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(given), ...reach.variables() };
}

/**
 * The whole environment of every git process. It inherits only the path to the binary; what uses the network also gets
 * the operator's own settings and credentials.
 */
export function gitEnvironment(
  { trusted, place }: GitPlace,
  reach: NetworkAccess = 'local',
): Record<string, string> {
  const settings = Object.entries({
    ...SETTINGS,
    ...(reach !== 'local' && { ...NETWORK_SETTINGS, ...reach.settings() }),
    // An empty value clears the list, so that git trusts only repositories of the user.
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
    // Replacement refs would show another content for a commit, and grafts other parents.
    GIT_NO_REPLACE_OBJECTS: '1',
    // There is no such file: git warns even of an empty one.
    GIT_GRAFT_FILE: `${devNull}/grafts`,
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

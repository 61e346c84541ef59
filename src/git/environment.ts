import { devNull } from 'node:os';

/**
 * Settings that stand above those of the repository, because git would run a program, wait for a person, or touch
 * the network by its word. The repository's own config is untrusted input like everything else in it.
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
  'commit.gpgSign': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
};

/**
 * Settings for the commands that fetch and push. What comes from somewhere else is looked at before it is kept, and no
 * program is started for a password, a connection or a signature. Without a network git starts none of these programs,
 * because no protocol is allowed then.
 */
const ORIGIN_SETTINGS: Readonly<Record<string, string>> = {
  'core.askPass': '',
  'core.gitProxy': '',
  'core.sshCommand': '',
  'credential.helper': '',
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
}

/**
 * Where a command may go: nowhere, to `origin` with the operator's own credentials for git, or to one server.
 */
export type NetworkAccess = 'local' | 'origin' | RemoteAccess;

/** Of the operator's own environment; the repository has no word in it. */
const CREDENTIALS = [
  'HOME',
  'SSH_AUTH_SOCK',
  'GIT_SSH_COMMAND',
  'GIT_ASKPASS',
  'GIT_SSL_CAINFO',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'HTTPS_PROXY',
  'https_proxy',
  'ALL_PROXY',
  'all_proxy',
  'NO_PROXY',
  'no_proxy',
] as const;

function networkVariables(reach: NetworkAccess): Record<string, string> {
  if (reach === 'local') return {};
  const given = CREDENTIALS.flatMap((name) => {
    const value = process.env[name];
    return value === undefined || value === '' ? [] : [[name, value] as const];
  });
  return {
    GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
    ...Object.fromEntries(given),
    GIT_ALLOW_PROTOCOL: 'https:ssh:file',
    ...(reach !== 'origin' && reach.variables()),
  };
}

/**
 * The whole environment of every git process: nothing is inherited but the way to the binary.
 *
 * @param reach only the commands that fetch and push may use the network, and the operator's credentials for it.
 * @param trusted the one directory whose repository git may open although somebody else owns it.
 */
export function gitEnvironment(
  trusted: string | null,
  reach: NetworkAccess = 'local',
): Record<string, string> {
  const settings = Object.entries({
    ...SETTINGS,
    ...(reach !== 'local' && ORIGIN_SETTINGS),
    ...(typeof reach === 'object' && reach.settings()),
    // An empty value empties the list: nothing is trusted then but what the user owns.
    'safe.directory': trusted ?? '',
  });
  return {
    PATH: process.env['PATH'] ?? '',
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: '1',
    // A missing object of a partial clone is an error, never a silent fetch: older versions know only the second.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    // Replaced objects would make a commit say what it does not.
    GIT_NO_REPLACE_OBJECTS: '1',
    ...networkVariables(reach),
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${String(index)}`, key],
        [`GIT_CONFIG_VALUE_${String(index)}`, value],
      ]),
    ),
  };
}

import { devNull } from 'node:os';

/**
 * Settings that stand above those of the repository, because git would run a program, wait for a person, or touch
 * the network by its word. The repository's own config is untrusted input like everything else in it.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  'core.hooksPath': devNull,
  'core.fsmonitor': 'false',
  'core.pager': 'cat',
  'core.sshCommand': '',
  'core.attributesFile': devNull,
  'core.excludesFile': devNull,
  // What a run remembers must outlive a power cut: it is written before the request that it speaks of.
  'core.fsync': 'committed,reference',
  'credential.helper': '',
  'diff.external': '',
  'log.showSignature': 'false',
  'commit.gpgSign': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
};

/**
 * The whole environment of every git process: nothing is inherited but the way to the binary.
 *
 * @param trusted the one directory whose repository git may open although somebody else owns it.
 */
export function gitEnvironment(trusted: string | null): Record<string, string> {
  const settings = Object.entries({
    ...SETTINGS,
    // An empty value empties the list: nothing is trusted then but what the user owns.
    'safe.directory': trusted ?? '',
  });
  return {
    PATH: process.env['PATH'] ?? '',
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: '1',
    // A missing object of a partial clone is an error, never a silent fetch: older versions know only the second.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    // Replaced objects would make a commit say what it does not.
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${String(index)}`, key],
        [`GIT_CONFIG_VALUE_${String(index)}`, value],
      ]),
    ),
  };
}

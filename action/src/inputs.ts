import { FlagkeelError } from '../../src/errors.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** One run of the program. */
export interface Invocation {
  /** Each one word, whatever it holds. */
  readonly args: readonly string[];
  /** Secrets travel here: arguments are seen by every process of the machine. */
  readonly environment: Environment;
}

/** Inputs of `action.yml`. */
export const INPUTS = [
  'command',
  'directory',
  'url',
  'key',
  'forge-token',
  'since',
  'plan-hash',
  'extra',
] as const;

const COMMANDS = ['review', 'reconcile', 'drift'];

/**
 * Reads the inputs as the runner hands them over: `INPUT_NAME`, upper case, hyphens kept, empty where not given.
 *
 * @throws FlagkeelError `USAGE`: the command is none of those that the action runs.
 */
export function toInvocation(environment: Environment): Invocation {
  const input = (name: (typeof INPUTS)[number]): string =>
    (environment[`INPUT_${name.toUpperCase()}`] ?? '').trim();
  const command = input('command') || 'review';
  if (!COMMANDS.includes(command)) {
    const why = 'there is no such command here';
    throw new FlagkeelError(
      'USAGE',
      `cannot run ${JSON.stringify(command)}: ${why} (${COMMANDS.join(', ')})`,
    );
  }
  const token = input('forge-token');
  const hasGitToken = ['FLAGKEEL_GIT_TOKEN', 'FLAGKEEL_GIT_TOKEN_FILE'].some(
    (name) => (environment[name] ?? '') !== '',
  );
  return {
    args: [
      command,
      ...option('since', input('since')),
      ...option('plan-hash', input('plan-hash')),
      ...words(input('extra')),
      // Nothing behind it is an option, whatever the directory is called.
      ...['--', input('directory') || '.'],
    ],
    environment: {
      ...withoutInputs(environment),
      ...variable('FLAGKEEL_URL', input('url')),
      ...variable('FLAGKEEL_API_KEY', input('key')),
      ...variable('FLAGKEEL_FORGE_TOKEN', command === 'drift' ? '' : token),
      ...variable('FLAGKEEL_GIT_TOKEN', hasGitToken ? '' : token),
    },
  };
}

/** What the installation of the program may see: nothing that is worth stealing. */
export function withoutSecrets(environment: Environment): Environment {
  const secret = /^(?:FLAGKEEL_|GITHUB_TOKEN$|GH_TOKEN$|ACTIONS_)/;
  return without(withoutInputs(environment), secret);
}

function withoutInputs(environment: Environment): Environment {
  return without(environment, /^INPUT_/);
}

function without(environment: Environment, names: RegExp): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !names.test(name)));
}

/** In one word: a value that begins with a hyphen stays a value. */
function option(name: string, value: string): string[] {
  return value === '' ? [] : [`--${name}=${value}`];
}

function words(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** An input that is not given leaves what the workflow's own environment says. */
function variable(name: string, value: string): Environment {
  return value === '' ? {} : { [name]: value };
}

import { readFileSync } from 'node:fs';
import { FlagkeelError, messageOf } from '../errors.js';
import { AUTH_HEADERS, type AuthHeader } from '../admin-api/origin.js';
import type { Signers } from '../git/signatures.js';
import type { GitCredentials } from '../git/remote-access.js';

/**
 * Every variable of the environment that the program reads; only the operator sets them, never the repository. Each has
 * the option of the commands that read it; null if CI sets it. docs/operations.md explains each of them.
 */
export const VARIABLES = {
  FLAGKEEL_API_KEY: '--url',
  FLAGKEEL_API_KEY_FILE: '--url',
  FLAGKEEL_URL: '--url',
  FLAGKEEL_ORIGINS: '--url',
  FLAGKEEL_AUTH_HEADER: '--url',
  FLAGKEEL_SDK_KEY: '--specs',
  FLAGKEEL_STATE_DIR: '--url',
  FLAGKEEL_ALLOWED_SIGNERS: '--url',
  FLAGKEEL_SIGNER_KEYRING: '--url',
  FLAGKEEL_DATABASE: '--lease',
  FLAGKEEL_DATABASE_FILE: '--lease',
  FLAGKEEL_FORGE_TOKEN: '--forge-url',
  FLAGKEEL_FORGE_TOKEN_FILE: '--forge-url',
  FLAGKEEL_GIT_TOKEN: '--repo',
  FLAGKEEL_GIT_TOKEN_FILE: '--repo',
  FLAGKEEL_GIT_ORIGINS: '--repo',
  FLAGKEEL_GIT_USER: '--repo',
  FLAGKEEL_GIT_SSH_KEY_FILE: '--repo',
  FLAGKEEL_GIT_KNOWN_HOSTS_FILE: '--repo',
  GITHUB_SERVER_URL: null,
  CI_SERVER_URL: null,
  NO_COLOR: '--no-color',
  FORCE_COLOR: '--no-color',
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

export interface OperatorSettings {
  readonly url?: string | undefined;
  /** `FLAGKEEL_ORIGINS`, unchanged. */
  readonly allowedOrigins: string;
  readonly stateDir?: string | undefined;
  readonly applicationKey?: string | undefined;
  /** A key file is read again at each call, so that a rotated key takes effect. @throws FlagkeelError `NO_KEY` */
  readonly apiKey: () => string;
  readonly authHeader?: AuthHeader | undefined;
  /** The token is read at each call, as with `apiKey`; throws if its file cannot be read. */
  readonly git: GitCredentials & { readonly token: () => string | undefined };
  /** Who may sign commits; null if the operator demands no signatures. */
  readonly signers: Signers | null;
  /** @throws FlagkeelError `NO_KEY` if its file cannot be read. */
  readonly database: () => string | undefined;
}

/** @throws FlagkeelError `USAGE` if `FLAGKEEL_AUTH_HEADER` or `FLAGKEEL_GIT_ORIGINS` is invalid. */
export function operatorSettings(environment: Environment): OperatorSettings {
  return {
    url: valueOf(environment, 'FLAGKEEL_URL'),
    stateDir: valueOf(environment, 'FLAGKEEL_STATE_DIR'),
    applicationKey: valueOf(environment, 'FLAGKEEL_SDK_KEY'),
    allowedOrigins: valueOf(environment, 'FLAGKEEL_ORIGINS') ?? '',
    apiKey: () => secretOf(environment, 'FLAGKEEL_API_KEY', 'Admin API key') ?? noKey(),
    authHeader: authHeader(environment),
    signers: signersOf(environment),
    database: () => secretOf(environment, 'FLAGKEEL_DATABASE', 'URL of the database'),
    git: {
      user: valueOf(environment, 'FLAGKEEL_GIT_USER'),
      token: () => secretOf(environment, 'FLAGKEEL_GIT_TOKEN', 'token of the git server'),
      servers: gitServers(environment),
      sshKeyFile: valueOf(environment, 'FLAGKEEL_GIT_SSH_KEY_FILE'),
      knownHostsFile: valueOf(environment, 'FLAGKEEL_GIT_KNOWN_HOSTS_FILE'),
    },
  };
}

/** An empty file has none. @throws FlagkeelError `USAGE` if the file cannot be read. */
export function forgeToken(environment: Environment): string | undefined {
  const file = valueOf(environment, 'FLAGKEEL_FORGE_TOKEN_FILE');
  const given = nonEmpty(valueOf(environment, 'FLAGKEEL_FORGE_TOKEN')?.trim());
  if (given !== undefined || file === undefined) return given;
  return nonEmpty(textInFile(file, 'token of the forge', 'USAGE'));
}

function valueOf(environment: Environment, name: keyof typeof VARIABLES): string | undefined {
  return nonEmpty(environment[name]);
}

function secretOf(
  environment: Environment,
  name: 'FLAGKEEL_API_KEY' | 'FLAGKEEL_DATABASE' | 'FLAGKEEL_GIT_TOKEN',
  what: string,
): string | undefined {
  const file = valueOf(environment, `${name}_FILE`);
  const given = nonEmpty(valueOf(environment, name)?.trim());
  return given ?? (file === undefined ? undefined : secretInFile(file, what));
}

function noKey(): never {
  const wayOut = 'set FLAGKEEL_API_KEY, or FLAGKEEL_API_KEY_FILE to a file that holds it';
  throw new FlagkeelError('NO_KEY', `cannot reach the service: no Admin API key (${wayOut})`);
}

function signersOf(environment: Environment): Signers | null {
  const allowedSigners = valueOf(environment, 'FLAGKEEL_ALLOWED_SIGNERS') ?? null;
  const keyring = valueOf(environment, 'FLAGKEEL_SIGNER_KEYRING') ?? null;
  return allowedSigners === null && keyring === null ? null : { allowedSigners, keyring };
}

/** Origins that may get the token although only a checkout names them. */
function gitServers(environment: Environment): readonly string[] {
  const named = (valueOf(environment, 'FLAGKEEL_GIT_ORIGINS') ?? '').split(/[\s,]+/);
  const ci = [valueOf(environment, 'GITHUB_SERVER_URL'), valueOf(environment, 'CI_SERVER_URL')];
  if (named.some((each) => each !== '' && !URL.canParse(each))) {
    throw new FlagkeelError('USAGE', 'cannot use FLAGKEEL_GIT_ORIGINS: an entry is no URL');
  }
  const urls = [...named, ...ci].flatMap((each) => each ?? []);
  return urls.filter((each) => URL.canParse(each)).map((each) => new URL(each).origin);
}

function authHeader(environment: Environment): AuthHeader | undefined {
  const given = nonEmpty(valueOf(environment, 'FLAGKEEL_AUTH_HEADER')?.trim().toLowerCase());
  const known = AUTH_HEADERS.find((each) => each === given);
  if (given === undefined || known !== undefined) return known;
  const why = `it is none of ${AUTH_HEADERS.join(', ')}`;
  throw new FlagkeelError('USAGE', `cannot use FLAGKEEL_AUTH_HEADER: ${why}`);
}

/** @param what its name for people: `Admin API key`. @throws FlagkeelError `NO_KEY` if the file is empty or unreadable. */
export function secretInFile(file: string, what: string): string {
  const text = textInFile(file, what, 'NO_KEY');
  if (text === '') throw new FlagkeelError('NO_KEY', `cannot read the ${what}: "${file}" is empty`);
  return text;
}

/** A secret as it is now; empty if there is none, or if it cannot be read. */
export function secretOrNone(read: () => string | undefined): string {
  try {
    return read() ?? '';
  } catch {
    return '';
  }
}

function textInFile(file: string, what: string, code: 'NO_KEY' | 'USAGE'): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    const message = `cannot read the ${what} from "${file}": ${messageOf(cause)}`;
    throw new FlagkeelError(code, message, { cause });
  }
}

export function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

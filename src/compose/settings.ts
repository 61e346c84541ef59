import { readFileSync } from 'node:fs';
import { FlagkeelError } from '../errors.js';
import { AUTH_HEADERS, type AuthHeader } from '../admin-api/origin.js';
import type { GitCredentials } from '../git/remote-access.js';

/**
 * What the operator decides, from the environment: never from the repository.
 *
 * - `FLAGKEEL_API_KEY`, or `FLAGKEEL_API_KEY_FILE`: the Admin API key.
 * - `FLAGKEEL_AUTH_HEADER`: in which header it goes, as `--auth-header`.
 * - `FLAGKEEL_URL`: the service to use, as `--url`.
 * - `FLAGKEEL_ORIGINS`: comma-separated origins that a repository may propose.
 * - `FLAGKEEL_STATE_DIR`: a bare repository that keeps the state.
 * - `FLAGKEEL_DATABASE`, or `FLAGKEEL_DATABASE_FILE`: where the replicas of a daemon meet.
 * - `FLAGKEEL_GIT_TOKEN`, or `FLAGKEEL_GIT_TOKEN_FILE`, with `FLAGKEEL_GIT_USER`: for a git server over https.
 * - `FLAGKEEL_GIT_ORIGINS`: comma-separated origins of git servers that the token may go to though a checkout names them. CI names its own
 *   by `GITHUB_SERVER_URL` or `CI_SERVER_URL`.
 * - `FLAGKEEL_GIT_SSH_KEY_FILE`, `FLAGKEEL_GIT_KNOWN_HOSTS_FILE`: for one over ssh.
 */
export interface OperatorSettings {
  readonly url?: string;
  /** `FLAGKEEL_ORIGINS` as it stands. */
  readonly allowedOrigins: string;
  readonly stateDir?: string;
  /**
   * The key of this moment; a key file is read again at each call, so that a rotated key is picked up.
   *
   * @throws FlagkeelError `NO_KEY`: none was given, or the file cannot be read.
   */
  readonly apiKey: () => string;
  /** In which header it goes; absent: as a Bearer token. */
  readonly authHeader?: AuthHeader;
  /** The token of this moment, as `apiKey`: it throws where its file cannot be read. */
  readonly git: GitCredentials & { readonly token: () => string | undefined };
  /**
   * URL of PostgreSQL; undefined: none was given.
   *
   * @throws FlagkeelError `NO_KEY`: the file cannot be read.
   */
  readonly database: () => string | undefined;
}

/**
 * The token for the forge, of a review or of statuses: `FLAGKEEL_FORGE_TOKEN`, or the file that `FLAGKEEL_FORGE_TOKEN_FILE` names.
 *
 * @throws FlagkeelError `USAGE`: the file cannot be read.
 */
export function forgeToken(environment: Environment): string | undefined {
  const given = nonEmpty(environment['FLAGKEEL_FORGE_TOKEN']?.trim());
  const file = nonEmpty(environment['FLAGKEEL_FORGE_TOKEN_FILE']);
  if (given !== undefined || file === undefined) return given;
  try {
    return nonEmpty(readFileSync(file, 'utf8').trim());
  } catch (cause) {
    throw new FlagkeelError('USAGE', `cannot read the token of the forge from "${file}"`, {
      cause,
    });
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

export function operatorSettings(environment: Environment): OperatorSettings {
  const url = nonEmpty(environment['FLAGKEEL_URL']);
  const stateDir = nonEmpty(environment['FLAGKEEL_STATE_DIR']);
  return {
    ...(url !== undefined && { url }),
    ...(stateDir !== undefined && { stateDir }),
    allowedOrigins: environment['FLAGKEEL_ORIGINS'] ?? '',
    apiKey: () => apiKey(environment),
    ...authHeader(environment),
    database: () => databaseUrl(environment),
    git: {
      user: nonEmpty(environment['FLAGKEEL_GIT_USER']),
      token: () => gitToken(environment),
      servers: gitServers(environment),
      sshKeyFile: nonEmpty(environment['FLAGKEEL_GIT_SSH_KEY_FILE']),
      knownHostsFile: nonEmpty(environment['FLAGKEEL_GIT_KNOWN_HOSTS_FILE']),
    },
  };
}

function databaseUrl(environment: Environment): string | undefined {
  const given = nonEmpty(environment['FLAGKEEL_DATABASE']?.trim());
  const file = nonEmpty(environment['FLAGKEEL_DATABASE_FILE']);
  return given ?? (file === undefined ? undefined : secretInFile(file, 'URL of the database'));
}

function gitToken(environment: Environment): string | undefined {
  const given = nonEmpty(environment['FLAGKEEL_GIT_TOKEN']?.trim());
  const file = nonEmpty(environment['FLAGKEEL_GIT_TOKEN_FILE']);
  return given ?? (file === undefined ? undefined : secretInFile(file, 'token of the git server'));
}

/** @throws FlagkeelError `USAGE`: an entry of `FLAGKEEL_GIT_ORIGINS` is no URL. */
function gitServers(environment: Environment): readonly string[] {
  const named = (environment['FLAGKEEL_GIT_ORIGINS'] ?? '').split(/[\s,]+/);
  const ci = [environment['GITHUB_SERVER_URL'] ?? '', environment['CI_SERVER_URL'] ?? ''];
  const wrong = named.find((each) => each !== '' && !URL.canParse(each));
  if (wrong !== undefined) {
    throw new FlagkeelError('USAGE', 'cannot use FLAGKEEL_GIT_ORIGINS: an entry is no URL');
  }
  return [...named, ...ci].filter((each) => URL.canParse(each)).map((each) => new URL(each).origin);
}

/** @throws FlagkeelError `USAGE` */
function authHeader(environment: Environment): Pick<OperatorSettings, 'authHeader'> {
  const given = nonEmpty(environment['FLAGKEEL_AUTH_HEADER']?.trim().toLowerCase());
  if (given === undefined) return {};
  const known = AUTH_HEADERS.find((each) => each === given);
  if (known !== undefined) return { authHeader: known };
  throw new FlagkeelError(
    'USAGE',
    `cannot use FLAGKEEL_AUTH_HEADER: it is none of ${AUTH_HEADERS.join(', ')}`,
  );
}

function apiKey(environment: Environment): string {
  const given = nonEmpty(environment['FLAGKEEL_API_KEY']?.trim());
  if (given !== undefined) return given;
  const file = nonEmpty(environment['FLAGKEEL_API_KEY_FILE']);
  if (file === undefined) {
    throw new FlagkeelError(
      'NO_KEY',
      'cannot reach the service: no Admin API key (set FLAGKEEL_API_KEY, or FLAGKEEL_API_KEY_FILE to a file that holds it)',
    );
  }
  return secretInFile(file, 'Admin API key');
}

/**
 * A secret that stands alone in a file, read now.
 *
 * @param what it is, for the person who reads that it is not there.
 * @throws FlagkeelError `NO_KEY`
 */
export function secretInFile(file: string, what: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new FlagkeelError('NO_KEY', `cannot read the ${what} from "${file}"`, { cause });
  }
  if (text === '') throw new FlagkeelError('NO_KEY', `cannot read the ${what}: "${file}" is empty`);
  return text;
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}

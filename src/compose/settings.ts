import { readFileSync } from 'node:fs';
import { FlaghoistError } from '../errors.js';
import { AUTH_HEADERS, type AuthHeader } from '../admin-api/origin.js';

/**
 * What the operator decides, from the environment: never from the repository.
 *
 * - `FLAGHOIST_API_KEY`, or `FLAGHOIST_API_KEY_FILE`: the Admin API key.
 * - `FLAGHOIST_AUTH_HEADER`: in which header it goes, as `--auth-header`.
 * - `FLAGHOIST_URL`: the service to use, as `--url`.
 * - `FLAGHOIST_ORIGINS`: comma-separated origins that a repository may propose.
 * - `FLAGHOIST_STATE_DIR`: a bare repository that keeps the state.
 * - `FLAGHOIST_DATABASE`, or `FLAGHOIST_DATABASE_FILE`: where the replicas of a daemon meet.
 * - `FLAGHOIST_GIT_TOKEN`, or `FLAGHOIST_GIT_TOKEN_FILE`, with `FLAGHOIST_GIT_USER`: for a git server over https.
 * - `FLAGHOIST_GIT_SSH_KEY_FILE`, `FLAGHOIST_GIT_KNOWN_HOSTS_FILE`: for one over ssh.
 */
export interface OperatorSettings {
  readonly url?: string;
  /** `FLAGHOIST_ORIGINS` as it stands. */
  readonly allowedOrigins: string;
  readonly stateDir?: string;
  /**
   * The key of this moment; a key file is read again at each call, so that a rotated key is picked up.
   *
   * @throws FlaghoistError `NO_KEY`: none was given, or the file cannot be read.
   */
  readonly apiKey: () => string;
  /** In which header it goes; absent: as a Bearer token. */
  readonly authHeader?: AuthHeader;
  readonly git: GitCredentials;
  /**
   * URL of PostgreSQL; undefined: none was given.
   *
   * @throws FlaghoistError `NO_KEY`: the file cannot be read.
   */
  readonly database: () => string | undefined;
}

/** How a git server knows us, and we it. */
export interface GitCredentials {
  readonly user?: string | undefined;
  /**
   * The token of this moment, as `apiKey`; undefined: none was given.
   *
   * @throws FlaghoistError `NO_KEY`: the file cannot be read.
   */
  readonly token: () => string | undefined;
  readonly sshKeyFile?: string | undefined;
  readonly knownHostsFile?: string | undefined;
}

/**
 * The token for the forge, of a review or of statuses: `FLAGHOIST_FORGE_TOKEN`, or the file that `FLAGHOIST_FORGE_TOKEN_FILE` names.
 *
 * @throws FlaghoistError `USAGE`: the file cannot be read.
 */
export function forgeToken(environment: Environment): string | undefined {
  const given = nonEmpty(environment['FLAGHOIST_FORGE_TOKEN']?.trim());
  const file = nonEmpty(environment['FLAGHOIST_FORGE_TOKEN_FILE']);
  if (given !== undefined || file === undefined) return given;
  try {
    return nonEmpty(readFileSync(file, 'utf8').trim());
  } catch (cause) {
    throw new FlaghoistError('USAGE', `cannot read the token of the forge from "${file}"`, {
      cause,
    });
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

export function operatorSettings(environment: Environment): OperatorSettings {
  const url = nonEmpty(environment['FLAGHOIST_URL']);
  const stateDir = nonEmpty(environment['FLAGHOIST_STATE_DIR']);
  return {
    ...(url !== undefined && { url }),
    ...(stateDir !== undefined && { stateDir }),
    allowedOrigins: environment['FLAGHOIST_ORIGINS'] ?? '',
    apiKey: () => apiKey(environment),
    ...authHeader(environment),
    database: () => databaseUrl(environment),
    git: {
      user: nonEmpty(environment['FLAGHOIST_GIT_USER']),
      token: () => gitToken(environment),
      sshKeyFile: nonEmpty(environment['FLAGHOIST_GIT_SSH_KEY_FILE']),
      knownHostsFile: nonEmpty(environment['FLAGHOIST_GIT_KNOWN_HOSTS_FILE']),
    },
  };
}

function databaseUrl(environment: Environment): string | undefined {
  const given = nonEmpty(environment['FLAGHOIST_DATABASE']?.trim());
  const file = nonEmpty(environment['FLAGHOIST_DATABASE_FILE']);
  return given ?? (file === undefined ? undefined : secretInFile(file, 'URL of the database'));
}

function gitToken(environment: Environment): string | undefined {
  const given = nonEmpty(environment['FLAGHOIST_GIT_TOKEN']?.trim());
  const file = nonEmpty(environment['FLAGHOIST_GIT_TOKEN_FILE']);
  return given ?? (file === undefined ? undefined : secretInFile(file, 'token of the git server'));
}

/** @throws FlaghoistError `USAGE` */
function authHeader(environment: Environment): Pick<OperatorSettings, 'authHeader'> {
  const given = nonEmpty(environment['FLAGHOIST_AUTH_HEADER']?.trim().toLowerCase());
  if (given === undefined) return {};
  const known = AUTH_HEADERS.find((each) => each === given);
  if (known !== undefined) return { authHeader: known };
  throw new FlaghoistError(
    'USAGE',
    `cannot use FLAGHOIST_AUTH_HEADER: it is none of ${AUTH_HEADERS.join(', ')}`,
  );
}

function apiKey(environment: Environment): string {
  const given = nonEmpty(environment['FLAGHOIST_API_KEY']?.trim());
  if (given !== undefined) return given;
  const file = nonEmpty(environment['FLAGHOIST_API_KEY_FILE']);
  if (file === undefined) {
    throw new FlaghoistError(
      'NO_KEY',
      'cannot reach the service: no Admin API key (set FLAGHOIST_API_KEY, or FLAGHOIST_API_KEY_FILE to a file that holds it)',
    );
  }
  return secretInFile(file, 'Admin API key');
}

/**
 * A secret that stands alone in a file, read now.
 *
 * @param what it is, for the person who reads that it is not there.
 * @throws FlaghoistError `NO_KEY`
 */
export function secretInFile(file: string, what: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new FlaghoistError('NO_KEY', `cannot read the ${what} from "${file}"`, { cause });
  }
  if (text === '')
    throw new FlaghoistError('NO_KEY', `cannot read the ${what}: "${file}" is empty`);
  return text;
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}

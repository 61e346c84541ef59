import { readFileSync } from 'node:fs';
import { FlaghoistError } from './errors.js';

/**
 * What the operator decides, from the environment: never from the repository.
 *
 * - `FLAGHOIST_API_KEY`, or `FLAGHOIST_API_KEY_FILE`: the Admin API key.
 * - `FLAGHOIST_URL`: the service to use, as `--url`.
 * - `FLAGHOIST_ORIGINS`: comma-separated origins that a repository may propose.
 * - `FLAGHOIST_STATE_DIR`: a bare repository that keeps the state.
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
}

/**
 * The token for the forge of a review: `FLAGHOIST_FORGE_TOKEN`, or the file that `FLAGHOIST_FORGE_TOKEN_FILE` names.
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
  };
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
  return keyInFile(file);
}

function keyInFile(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new FlaghoistError('NO_KEY', `cannot read the Admin API key from "${file}"`, { cause });
  }
  if (text === '')
    throw new FlaghoistError('NO_KEY', `cannot read the Admin API key: "${file}" is empty`);
  return text;
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}

import { badRequest } from '../problem.js';

/** Public documentation of such services: a letter first, then letters, digits, `-` and `_`. */
const NAME = /^[A-Za-z][-_A-Za-z0-9]*$/;
const MAX_NAME_LENGTH = 256;

const RESERVED_FLAG_NAMES: ReadonlySet<string> = new Set(['datetime', 'string', 'set', 'integer']);

const RESERVED_TREATMENT_NAMES: ReadonlySet<string> = new Set(
  (
    'all and between contain contains control datetime does end ends false has have if in is match matches not ' +
    'number set split start starts string then treatment true with'
  ).split(' '),
);

export function checkFlagName(name: string): void {
  checkName('Feature flag', name);
  if (RESERVED_FLAG_NAMES.has(name)) throw badRequest(`Feature flag name ${name} is reserved`);
}

export function checkSegmentName(name: string): void {
  checkName('Segment', name);
}

export function checkTrafficTypeName(name: string): void {
  checkName('Traffic type', name);
}

export function checkTreatmentName(name: string): void {
  checkName('Treatment', name);
  if (RESERVED_TREATMENT_NAMES.has(name)) throw badRequest(`Treatment name ${name} is reserved`);
}

function checkName(what: string, name: string): void {
  if (name.length > MAX_NAME_LENGTH) {
    throw badRequest(`${what} names have at most ${MAX_NAME_LENGTH} characters`);
  }
  if (!NAME.test(name)) {
    throw badRequest(`${what} names must start with a letter and can contain "-_ a-z A-Z 0-9"`);
  }
}

/** Names of workspaces and environments are for people: any text on one line. */
export function checkTitleName(what: string, name: string): void {
  if (name.trim() === '' || name.length > MAX_NAME_LENGTH || /[\u0000-\u001f\u007f]/.test(name)) {
    throw badRequest(`${what} names have 1 to ${MAX_NAME_LENGTH} printable characters`);
  }
}

/** Lists are in the order of this form, by bytes. */
export function sortName(name: string): string {
  return name.toLowerCase();
}

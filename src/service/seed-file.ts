import { FlaghoistError, messageOf } from '../errors.js';
import { Problem } from './problem.js';
import type { Schema } from './rules/matchers.js';
import { checkShape, compileSchema } from './rules/shape.js';
import type { Seed } from './seed.js';

const ENVIRONMENT: Schema = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 1 },
    production: { type: 'boolean' },
    approvalsRequired: { type: 'boolean' },
    allowKills: { type: 'boolean' },
  },
};

const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

const SEED: Schema = {
  type: 'object',
  required: ['workspaces'],
  additionalProperties: false,
  properties: {
    workspaces: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'environments', 'trafficTypes'],
        additionalProperties: false,
        properties: {
          id: { type: 'string', pattern: UUID },
          name: { type: 'string', minLength: 1 },
          requiresTitleAndComments: { type: 'boolean' },
          environments: { type: 'array', items: ENVIRONMENT },
          trafficTypes: { type: 'array', items: { type: 'string', minLength: 1 } },
        },
      },
    },
  },
};

/**
 * Reads a seed from JSON text.
 *
 * @param file named in errors.
 * @throws FlaghoistError (USAGE) the text is no seed.
 */
export function parseSeed(text: string, file: string): Seed {
  try {
    const seed: unknown = JSON.parse(text);
    checkShape(compileSchema(SEED), seed, 'Seed');
    return seed as Seed;
  } catch (error) {
    if (!(error instanceof Problem) && !(error instanceof SyntaxError)) throw error;
    throw new FlaghoistError('USAGE', `cannot read the seed "${file}": ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** For a first try: what a service has where nobody said what it should have. */
export const DEFAULT_SEED: Seed = {
  workspaces: [
    {
      name: 'Default',
      environments: [{ name: 'staging' }, { name: 'production', production: true }],
      trafficTypes: ['user', 'account'],
    },
  ],
};

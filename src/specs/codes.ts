import type { LintSpec } from '../generated/config.schema.d.js';
import { FAULT_CODES } from '../model/diagnostic.js';
import { NAMED_KINDS } from '../model/ref.js';

/** Every code of a diagnostic. `docs/diagnostics.md` explains each of them. */
export const DIAGNOSTIC_CODES = [
  ...FAULT_CODES,
  ...Object.values(NAMED_KINDS).flatMap(({ wrongName, twice }) => [wrongName, twice]),
  'api-key-in-file',
  'condition-cycle',
  'config-missing',
  'csv-syntax',
  'dependency-cycle',
  'duplicate-identity',
  'duplicate-key',
  'environment-twice',
  'external-keys',
  'file-extension',
  'file-name',
  'file-too-large',
  'flag-missing',
  'flag-not-in-environment',
  'invalid-key',
  'invalid-utf8',
  'key-file-missing',
  'key-file-outside',
  'key-listed-twice',
  'key-number',
  'lfs-pointer',
  'misplaced-file',
  'missing-default-rule',
  'missing-field',
  'nested-too-deeply',
  'not-a-file',
  'not-a-folder',
  'not-on-service',
  'number-precision',
  'ramp-name',
  'ramp-steps',
  'segment-not-in-environment',
  'spec-test-failed',
  'too-many-files',
  'traffic-type-mismatch',
  'traffic-type-missing',
  'treatment-count',
  'treatment-name',
  'treatment-name-reserved',
  'unknown-check',
  'unknown-environment',
  'unknown-field',
  'unknown-flag',
  'unknown-segment',
  'unknown-window',
  'unused-key-file',
  'wrong-type',
  'wrong-value',
  'yaml-feature',
  'yaml-syntax',
] as const;

/** Codes of lint findings. `docs/lint.md` explains each of them, and only `validate` reports them. */
export type LintCode = keyof NonNullable<LintSpec['levels']>;

export type DiagnosticCode = (typeof DIAGNOSTIC_CODES)[number] | LintCode;

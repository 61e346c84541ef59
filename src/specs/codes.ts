import { FAULT_CODES } from '../model/diagnostic.js';

/** Every code that a diagnostic can bear. `docs/diagnostics.md` explains each of them. */
export const DIAGNOSTIC_CODES = [
  ...FAULT_CODES,
  'api-key-in-file',
  'config-missing',
  'csv-syntax',
  'dependency-cycle',
  'duplicate-flag',
  'duplicate-identity',
  'duplicate-key',
  'duplicate-segment',
  'environment-twice',
  'external-keys',
  'file-extension',
  'file-name',
  'file-too-large',
  'flag-missing',
  'flag-name',
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
  'segment-name',
  'segment-not-in-environment',
  'spec-test-failed',
  'too-many-files',
  'traffic-type-mismatch',
  'traffic-type-missing',
  'treatment-count',
  'treatment-name',
  'treatment-name-reserved',
  'unknown-environment',
  'unknown-field',
  'unknown-flag',
  'unknown-segment',
  'unused-key-file',
  'wrong-type',
  'wrong-value',
  'yaml-feature',
  'yaml-syntax',
] as const;

/**
 * Codes of what is right but seldom meant, or against the rules of the house. `docs/lint.md` explains each of them, and
 * `validate` alone reports them.
 */
export const LINT_CODES = [
  'allow-unknown',
  'allow-unused',
  'allow-without-reason',
  'confusable-names',
  'contradictory-rule',
  'duplicate-condition',
  'duplicate-segment-keys',
  'empty-segment',
  'expired',
  'expiry-too-late',
  'full-rollout',
  'invalid-regex',
  'kill-review-passed',
  'many-inline-keys',
  'name-pattern',
  'required-field',
  'rule-like-default',
  'stray-file',
  'unknown-word',
  'unreachable-rule',
  'unused-segment',
  'use-between',
] as const;

export type LintCode = (typeof LINT_CODES)[number];

/** One of the codes above. */
export type DiagnosticCode = (typeof DIAGNOSTIC_CODES)[number] | LintCode;

import { EXIT, type ExitCode } from '../errors.js';

/** The order in which codes of several directories win; what is not in it never meets another. */
const STRONGEST_FIRST: readonly ExitCode[] = [
  EXIT.sigint,
  EXIT.sigterm,
  EXIT.usage,
  EXIT.failed,
  EXIT.unreadable,
  EXIT.refused,
  EXIT.notConverged,
  EXIT.guardRefused,
  EXIT.invalidSpecs,
  EXIT.held,
  EXIT.changes,
];

/** One code for several directories. */
export function combinedExitCode(codes: readonly ExitCode[]): ExitCode {
  return STRONGEST_FIRST.find((code) => codes.includes(code)) ?? EXIT.ok;
}

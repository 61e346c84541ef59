import type { Diagnostic } from '../model/diagnostic.js';
import { clean } from './clean.js';
import { guardLines } from './guard-lines.js';
import { impactOf, reachWords, riskWord } from './impact-lines.js';
import type { PlanReport } from './plan-report.js';
import { cut } from './text-width.js';

/** One thing that a line of a spec is to be told of. */
export interface Finding {
  readonly level: 'error' | 'warning' | 'note';
  /** Stable and kebab-case: a code of a diagnostic, a risk, `change`, `guard`. */
  readonly rule: string;
  /** Null: the run as a whole. */
  readonly place: { readonly file: string; readonly line: number; readonly column: number } | null;
  /** The object, or the file. */
  readonly subject: string;
  /** One line of cleaned text. */
  readonly message: string;
}

const MESSAGE_COLUMNS = 600;

/** What is wrong with the specs. */
export function diagnosticFindings(diagnostics: readonly Diagnostic[]): Finding[] {
  return diagnostics.map(({ severity, code, location, message }) => ({
    level: severity,
    rule: code,
    place: location,
    subject: clean(location.file),
    message: cut(clean(message), MESSAGE_COLUMNS),
  }));
}

/** Refusals by guards, then each change, with its risks. */
export function planFindings(report: PlanReport): Finding[] {
  const guards = guardLines(report).map(({ spans }) => spans.map(({ text }) => text).join(''));
  return [
    // The last line is the way out.
    ...guards.slice(0, -1).map((text): Finding => ({
      level: 'error',
      rule: 'guard',
      place: null,
      subject: 'plan',
      message: cut(text.replace(/^✗ /, ''), MESSAGE_COLUMNS),
    })),
    ...report.plan.changes.map((change): Finding => {
      const { id, action, location, ref } = change;
      const impact = impactOf(report, id);
      const risks = impact?.risks ?? [];
      const parts = [
        `${clean(id)}: ${action}`,
        ...risks.map((risk) => riskWord(risk, ref.environment)),
        ...(impact ? [`reaches ${reachWords(change, impact, false)}`] : []),
      ];
      return {
        level: risks.length > 0 ? 'warning' : 'note',
        rule: risks[0] ?? 'change',
        place: location,
        subject: clean(id),
        message: cut(parts.join('; ').replaceAll('\u00a0', ' '), MESSAGE_COLUMNS),
      };
    }),
  ];
}

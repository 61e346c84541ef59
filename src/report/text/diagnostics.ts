import { createColors } from 'picocolors';
import type { Diagnostic } from '../../model/diagnostic.js';
import { clean } from '../sanitize.js';
import { displayWidth } from './layout.js';
import { counted, plural } from '../values.js';

/** Columns of a long line to show on either side of the problem. */
const CONTEXT = 60;
const LONGEST_MARK = 80;

export function diagnosticsText(
  diagnostics: readonly Diagnostic[],
  options: { readonly color: boolean },
): string {
  if (diagnostics.length === 0) return '';
  const colors = createColors(options.color);
  const blocks = diagnostics.map((diagnostic) => {
    const { severity, code, location, message } = diagnostic;
    const paint = severity === 'error' ? colors.red : colors.yellow;
    const place = `${clean(location.file)}:${String(location.line)}:${String(location.column)}`;
    const head = `${colors.bold(place)}: ${paint(`${severity}[${code}]`)} ${clean(message)}`;
    const excerpt = excerptLines(diagnostic).map(
      ([gutter, text], at) => colors.dim(gutter) + (at === 0 ? text : paint(text)),
    );
    return [head, ...excerpt].map((line) => `${line}\n`).join('');
  });
  return `${blocks.join('\n')}\n${totals(diagnostics)}\n`;
}

function excerptLines({ excerpt, location }: Diagnostic): (readonly [string, string])[] {
  if (!excerpt) return [];
  const from = clamp(excerpt.from, 0, excerpt.text.length);
  const to = clamp(excerpt.to, from, excerpt.text.length);
  const before = windowBefore(cleanKeepingTabs(excerpt.text.slice(0, from)));
  const marked = windowAfter(cleanKeepingTabs(excerpt.text.slice(from, to)), LONGEST_MARK);
  const after = windowAfter(cleanKeepingTabs(excerpt.text.slice(to)), CONTEXT);
  const number = String(location.line);
  const mark = '^'.repeat(Math.max(1, displayWidth(marked.replaceAll('\t', ' '))));
  return [
    [`  ${number} | `, `${before}${marked}${after}`],
    [`  ${' '.repeat(number.length)} | `, `${blank(before)}${mark}`],
  ];
}

/** White space as wide as `text`. Tabs are kept, so that both lines use the same tab stops. */
function blank(text: string): string {
  return text
    .split('\t')
    .map((part) => ' '.repeat(displayWidth(part)))
    .join('\t');
}

function cleanKeepingTabs(text: string): string {
  return text.split('\t').map(clean).join('\t');
}

function windowBefore(text: string): string {
  return text.length <= CONTEXT ? text : `…${Array.from(text).slice(-CONTEXT).join('')}`;
}

function windowAfter(text: string, columns: number): string {
  return text.length <= columns ? text : `${Array.from(text).slice(0, columns).join('')}…`;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

/** `2 errors, 1 warning in 3 files`. */
function totals(diagnostics: readonly Diagnostic[]): string {
  const count = (severity: Diagnostic['severity']): number =>
    diagnostics.filter((each) => each.severity === severity).length;
  const [errors, warnings] = [count('error'), count('warning')];
  const files = new Set(diagnostics.map((each) => each.location.file)).size;
  const found = [...counted(errors, 'error'), ...counted(warnings, 'warning')].join(', ');
  const [first] = diagnostics;
  const more = first ? `; more by \`flagkeel explain ${first.code}\`` : '';
  return `${found} in ${plural(files, 'file')}${more}`;
}

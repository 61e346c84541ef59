import type { Diagnostic } from '../model/diagnostic.js';
import { clean } from './sanitize.js';
import { guardTexts } from './view/guards.js';
import { audienceText, riskWord } from './view/impact.js';
import { escaped } from '../platform/html.js';
import type { PlanReport } from './plan-report.js';
import { cut } from './text/layout.js';

export interface Finding {
  readonly level: 'error' | 'warning' | 'note';
  /** Stable and kebab-case: the code of a diagnostic, a risk, `change`, or `guard`. */
  readonly rule: string;
  readonly place: { readonly file: string; readonly line: number; readonly column: number } | null;
  /** Cleaned, as the message: viewers of all formats act on control characters. The place is as others wrote it. */
  readonly subject: string;
  readonly message: string;
}

export function underPrefix(prefix: string, findings: readonly Finding[]): Finding[] {
  return findings.map((finding) => ({
    ...finding,
    place: finding.place && { ...finding.place, file: `${prefix}${finding.place.file}` },
  }));
}

const MESSAGE_COLUMNS = 600;

export function diagnosticFindings(diagnostics: readonly Diagnostic[]): Finding[] {
  return diagnostics.map(({ severity, code, location, message }) => ({
    level: severity,
    rule: code,
    place: location,
    subject: clean(location.file),
    message: cut(clean(message), MESSAGE_COLUMNS),
  }));
}

export function planFindings(report: PlanReport): Finding[] {
  return [
    ...guardTexts(report).refusals.map((text): Finding => ({
      level: 'error',
      rule: 'guard',
      place: null,
      subject: 'plan',
      message: cut(clean(text), MESSAGE_COLUMNS),
    })),
    ...report.plan.changes.map((change): Finding => {
      const { id, action, location, ref } = change;
      const impact = report.impacts?.get(id);
      const risks = impact?.risks ?? [];
      const parts = [
        `${clean(id)}: ${action}`,
        ...risks.map((risk) => riskWord(risk, ref.environment)),
        ...(impact ? [`reaches ${audienceText(change, impact, { showKeys: false })}`] : []),
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

/** SARIF 2.1.0, for code scanning. Files are relative to the root of the repository. */
export function sarif(findings: readonly Finding[], version: string): string {
  const rules = [...new Set(findings.map(({ rule }) => rule))].sort();
  const document = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'flagkeel', version, rules: rules.map((id) => ({ id })) } },
        columnKind: 'utf16CodeUnits',
        results: findings.map(({ rule, level, message, place }) => ({
          ruleId: rule,
          level,
          message: { text: message },
          ...(place && { locations: [locationOf(place)] }),
        })),
      },
    ],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function locationOf({ file, line, column }: NonNullable<Finding['place']>): object {
  // A URI cannot contain half of a surrogate pair.
  const whole = file.replace(/\p{Cs}/gu, '\ufffd');
  const uri = whole.split('/').map(encodeURIComponent).join('/');
  return {
    physicalLocation: {
      artifactLocation: { uri, uriBaseId: '%SRCROOT%' },
      region: { startLine: line, startColumn: column },
    },
  };
}

const ANNOTATION = { error: 'error', warning: 'warning', note: 'notice' } as const;

/** Commands to the runner of GitHub Actions, one line each. Files are relative to the root of the repository. */
export function workflowCommands(findings: readonly Finding[]): string {
  return findings
    .map(({ level, rule, message, place }) => {
      const at = place && [
        `file=${property(clean(place.file))}`,
        `line=${String(place.line)}`,
        `col=${String(place.column)}`,
      ];
      const properties = [...(at ?? []), `title=${property(rule)}`].join(',');
      return `::${ANNOTATION[level]} ${properties}::${commandText(message)}\n`;
    })
    .join('');
}

function commandText(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return commandText(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

export function junit(findings: readonly Finding[]): string {
  const failures = findings.filter(({ level }) => level === 'error').length;
  const counts = `tests="${String(findings.length)}" failures="${String(failures)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="flagkeel" ${counts}>`,
    ...findings.map(caseOf),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function caseOf({ level, rule, subject, message, place }: Finding): string {
  const file = place ? ` file="${attribute(clean(place.file))}"` : '';
  const text = attribute(message);
  const inside =
    level === 'error'
      ? `<failure type="${attribute(rule)}" message="${text}"/>`
      : `<system-out>${text}</system-out>`;
  return `    <testcase classname="${attribute(rule)}" name="${attribute(subject)}"${file}>${inside}</testcase>`;
}

/** Removes characters that XML cannot represent: control characters, and halves of surrogate pairs. */
function attribute(text: string): string {
  return escaped(text).replace(
    /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu,
    '',
  );
}

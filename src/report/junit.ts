import type { Finding } from './findings.js';

/** Findings as JUnit XML: what is an error fails, everything else passes and says what it is. */
export function junit(findings: readonly Finding[]): string {
  const failures = findings.filter(({ level }) => level === 'error').length;
  const counts = `tests="${String(findings.length)}" failures="${String(failures)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="flaghoist" ${counts}>`,
    ...findings.map(caseOf),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function caseOf({ level, rule, subject, message, place }: Finding): string {
  const file = place ? ` file="${attribute(place.file)}"` : '';
  const inside =
    level === 'error'
      ? `<failure type="${attribute(rule)}" message="${attribute(message)}"/>`
      : `<system-out>${attribute(message)}</system-out>`;
  return `    <testcase classname="${attribute(rule)}" name="${attribute(subject)}"${file}>${inside}</testcase>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** What XML cannot say at all (control characters, halves of pairs) is left out. */
function attribute(text: string): string {
  return text
    .replace(/[&<>"]/g, (each) => ENTITIES[each] ?? '')
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '');
}

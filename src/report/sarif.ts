import type { Finding } from './findings.js';

/**
 * Findings as SARIF 2.1.0, for code scanning.
 *
 * @param findings with files as they are seen from the top of the repository.
 */
export function sarif(findings: readonly Finding[], version: string): string {
  const rules = [...new Set(findings.map(({ rule }) => rule))].sort();
  const document = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'flaghoist', version, rules: rules.map((id) => ({ id })) } },
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
  // Half of a surrogate pair has no form in a URI.
  const whole = file.replace(/\p{Cs}/gu, '\ufffd');
  const uri = whole.split('/').map(encodeURIComponent).join('/');
  return {
    physicalLocation: {
      artifactLocation: { uri, uriBaseId: '%SRCROOT%' },
      region: { startLine: line, startColumn: column },
    },
  };
}

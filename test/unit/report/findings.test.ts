import { expect, it } from 'vitest';
import {
  diagnosticFindings,
  junit,
  planFindings,
  sarif,
  workflowCommands,
} from '../../../src/report/findings.js';
import { aChange, aReport } from '../../support/plan-builder.js';

const ID = 'flag/new-checkout@production';

it('tells of each change on its line, louder where it has a risk', () => {
  const report = aReport(
    { changes: [aChange(ID, 'update'), aChange('flag/b@staging', 'create')] },
    { impacts: new Map([[ID, { flags: [], risks: ['serves-nobody'] }]]) },
  );

  expect(planFindings(report)).toMatchObject([
    {
      level: 'warning',
      rule: 'serves-nobody',
      message: `${ID}: update; serves nobody; reaches nobody`,
    },
    { level: 'note', rule: 'change', place: { file: 'flags/b.yaml', line: 1 } },
  ]);
});

const hostileFindings = (hostile: string) =>
  diagnosticFindings([
    {
      ...{ severity: 'error', code: 'x', message: `first ${hostile}\nsecond` },
      location: { file: `flags/${hostile}.yaml`, line: 2, column: 3 },
    },
  ]);

it('writes what others wrote as text, in SARIF and in XML', () => {
  const findings = hostileFindings(']]><x a="1">&amp; \u0000\u001b[31m \ud800 é😀');

  const xml = junit(findings);
  const document = JSON.parse(sarif(findings, '1.0.0')) as { runs: [{ results: object[] }] };

  expect(xml).toContain('failures="1"');
  expect(xml).toContain(']]&gt;&lt;x a=&quot;1&quot;&gt;&amp;amp;');
  expect(xml).not.toMatch(/[\u0000-\u0008\u001b]|\p{Cs}/u);
  expect(xml.match(/<testcase /g)).toHaveLength(1);
  expect(document.runs[0].results).toHaveLength(1);
});

it('leaves no escape and no bidi override of a file name in JUnit, in SARIF messages and in workflow commands', () => {
  const findings = hostileFindings('a\u001b[31mb\u202ec\u0007');

  for (const text of [junit(findings), sarif(findings, '1.0.0'), workflowCommands(findings)]) {
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202a-\u202e]/);
    expect(text).not.toContain('\\u001b');
    expect(text).toMatch(/U\+202E/);
  }
});

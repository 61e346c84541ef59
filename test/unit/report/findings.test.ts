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

it('writes what others wrote as text, without what acts on a terminal', () => {
  const hostile = ']]><x a="1">&amp; \u0000\u001b[31m \ud800 é😀 a\u202ec\u0007';
  const findings = diagnosticFindings([
    {
      ...{ severity: 'error', code: 'x', message: `first ${hostile}\nsecond` },
      location: { file: `flags/${hostile}.yaml`, line: 2, column: 3 },
    },
  ]);

  const [xml, json] = [junit(findings), sarif(findings, '1.0.0')];

  expect(xml).toContain('failures="1"');
  // Subject, file and message.
  expect(xml.match(/]]&gt;&lt;x a=&quot;1&quot;&gt;&amp;amp;/g)).toHaveLength(3);
  expect(xml.match(/<testcase /g)).toHaveLength(1);
  expect(JSON.parse(json)).toMatchObject({ runs: [{ results: [{ ruleId: 'x' }] }] });
  for (const text of [xml, json, workflowCommands(findings)]) {
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202a-\u202e]|\\u001b|\p{Cs}/u);
    expect(text).toMatch(/U\+202E/);
  }
});

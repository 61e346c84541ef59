import { expect, it } from 'vitest';
import { sha256 } from '../../../src/model/json.js';
import { environmentRules, withholdReason } from '../../../src/plan/policy.js';
import { anEnvironment, aPolicy } from '../../support/builders.js';
import { projectText } from './page.js';

const PAGE = projectText('docs/plan-output.md');

it('docs/plan-output.md shows a hash as long as those that are printed', () => {
  const [, hash = ''] = /^planHash sha256:(\S*)$/m.exec(PAGE) ?? [];

  expect(hash).toMatch(/^[0-9a-f]+$/);
  expect(hash).toHaveLength(sha256('').length);
});

it('docs/plan-output.md shows the way out that drift has', () => {
  const rules = environmentRules(aPolicy(), anEnvironment('production', { onDrift: 'report' }));

  expect(PAGE).toContain(`→ ${withholdReason({ reason: 'drift' }, rules)?.wayOut ?? ''}\n`);
});

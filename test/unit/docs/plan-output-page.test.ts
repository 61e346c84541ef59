import { expect, it } from 'vitest';
import { sha256 } from '../../../src/model/json.js';
import { remedyOf } from '../../../src/model/remedy.js';
import { rulesIn, withholdReason } from '../../../src/plan/policy.js';
import { remedyText } from '../../../src/report/view/remedy.js';
import { anEnvironment, aPolicy } from '../../support/builders.js';
import { projectText } from './page.js';

const PAGE = projectText('docs/plan-output.md');

it('docs/plan-output.md shows a hash as long as those that are printed', () => {
  const [, hash = ''] = /^planHash sha256:(\S*)$/m.exec(PAGE) ?? [];

  expect(hash).toMatch(/^[0-9a-f]+$/);
  expect(hash).toHaveLength(sha256('').length);
});

it('docs/plan-output.md shows the way out that drift has', () => {
  const rules = rulesIn(aPolicy(), anEnvironment('production', { onDrift: 'report' }));

  const held = withholdReason({ reason: 'drift' }, rules);
  if (held === undefined) throw new Error('drift is not held');
  const change = { id: 'flag/legacy@production', action: 'update', fields: [] } as const;
  const words = (text: string): string => text.replace(/\s+/g, ' ');
  expect(words(PAGE)).toContain(`→ ${remedyText(remedyOf({ ...change, ...held }))} `);
});

import { expect, it } from 'vitest';
import { unwrittenList, withheldList } from '../../../../src/daemon/page/object-lists.js';
import type { Html } from '../../../../src/platform/html.js';
import { aRun, aSource } from '../../../support/daemon-view.js';
import { aChange, aReport, aWithheld } from '../../../support/plan-builder.js';

it('what the service keeps is archived, and what it does not is deleted', () => {
  const changes = [
    aChange('flag/kept', 'delete', { archive: true }),
    aChange('flag/gone', 'delete'),
  ];
  const withheld = [aWithheld('flag/held', 'delete', 'window-closed', { archive: true })];
  const source = aSource({ runs: [aRun(aReport({ changes, withheld }))] });
  const textOf = (html: Html): string => html.text.replaceAll(/<[^>]*>/g, '');

  expect(textOf(withheldList(source))).toContain('archive flag/held');
  expect(textOf(unwrittenList(source))).toContain('archive flag/kept');
  expect(textOf(unwrittenList(source))).toContain('delete flag/gone');
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { truncateNote } from '../../src/model/audit-note.js';
import { loggedWrite } from '../../src/reconcile/record.js';
import { applyMessage, parseChanges } from '../../src/state/run-log.js';
import { lawSettings } from './law-settings.js';

const settings = lawSettings('laws of the history', 200);

/** As a service sends it: of two zeros JSON knows one. */
const someValue = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as typeof value);

const someText = fc.string({ unit: 'binary', maxLength: 150 });

const someWrite = fc.record({
  id: fc.constantFrom('flag/pay@production', 'segment/staff', 'flag/a b@staging'),
  title: someText,
  comment: someText,
  fields: fc.array(
    fc.record({
      path: fc.constantFrom('/rules', '/killed'),
      reason: fc.constant('commit' as const),
      before: fc.option(someValue, { nil: undefined }),
      after: someValue,
    }),
    { maxLength: 3 },
  ),
});

it('what a record says of a write is read back with the title, the comment and the values that were sent', () => {
  fc.assert(
    fc.property(fc.array(someWrite, { maxLength: 5 }), (writes) => {
      const sent = writes.map(({ id, title, comment, fields }) => {
        const note = truncateNote({ title, comment }, `flagkeel: update ${id}`);
        return { id, fields, ...note };
      });
      const lines = sent.map(({ id, title, comment, fields }) => {
        const written = loggedWrite({ fields }, comment);
        return { outcome: 'applied', action: 'update', id, title, written };
      });

      const read = parseChanges(applyMessage('Apply', 'a'.repeat(40), lines).split('\n'));

      expect(
        read.map(({ id, title, written }) => ({ id, title, comment: written?.comment })),
      ).toEqual(sent.map(({ id, title, comment }) => ({ id, title, comment })));
      expect(
        read.map(({ written }) => written?.fields.map(({ path, after }) => ({ path, after }))),
      ).toEqual(sent.map(({ fields }) => fields.map(({ path, after }) => ({ path, after }))));
    }),
    settings,
  );
});

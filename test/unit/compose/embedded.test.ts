import { expect, it } from 'vitest';
import { workspaceIdFor } from '../../../src/compose/admin-api.js';

it('the id of an embedded workspace follows from its name, for ever, because plans name it: a UUID of version 8', () => {
  const names = ['Default', 'default', 'Default ', 'Other', '', 'ñandú', 'a'.repeat(500)];
  const ids = names.map(workspaceIdFor);

  expect(ids[0]).toBe('820f81e5-0660-8e1b-beed-7bc150604c86');
  expect(new Set(ids).size).toBe(names.length);
  const form = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(ids.filter((id) => !form.test(id))).toEqual([]);
});

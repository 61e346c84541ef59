import { describe, expect, it } from 'vitest';
import { workspaceIdFor } from '../../../src/compose/admin-api.js';

describe('the id of an embedded workspace', () => {
  it('follows from its name, for ever: plans that were reviewed name it', () => {
    expect(workspaceIdFor('Default')).toBe('820f81e5-0660-8e1b-beed-7bc150604c86');
  });

  it('is a UUID of version 8 for any name', () => {
    for (const name of ['Default', 'Other', '', 'ñandú', 'a'.repeat(500)]) {
      expect(workspaceIdFor(name)).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    }
  });

  it('is another one for another name', () => {
    const names = ['Default', 'default', 'Default ', 'Other'];

    expect(new Set(names.map(workspaceIdFor)).size).toBe(names.length);
  });
});

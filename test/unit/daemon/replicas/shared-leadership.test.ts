import { describe, expect, it } from 'vitest';
import { withoutShared } from '../../../../src/daemon/replicas/shared-leadership.js';
import { Overrides } from '../../../../src/daemon/source/leadership.js';

const HOLD = { reason: 'release', until: '2026-03-01T12:00:00Z' };

describe('what replicas have still to tell each other', () => {
  it('does not end the daemon where two told the same resumption at once', () => {
    const resumed = { suspension: null };
    const afterTheFirst = withoutShared({ suspension: null }, resumed);
    const afterTheSecond = withoutShared(afterTheFirst, resumed);
    expect(Object.keys(afterTheSecond)).toEqual([]);

    const overrides = new Overrides(() => 0);
    overrides.set({
      suspension: null,
      pin: null,
      approval: null,
      ...afterTheSecond,
    });
    expect(overrides.expire()).toBe(false);
  });

  it('is what was asked while the rest was told', () => {
    const told = { suspension: HOLD };
    expect(withoutShared({ suspension: null }, told)).toEqual({ suspension: null });
    expect(withoutShared({ suspension: HOLD, pin: null }, told)).toEqual({ pin: null });
  });
});

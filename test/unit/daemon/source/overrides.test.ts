import { describe, expect, it } from 'vitest';
import { Overrides } from '../../../../src/daemon/source/leadership.js';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const at = (minutes: number): string => new Date(NOON + minutes * 60_000).toISOString();

function holdsAt(start = NOON): { holds: Overrides; clock: { now: number } } {
  const clock = { now: start };
  return { holds: new Overrides(() => clock.now), clock };
}

describe('a hold by request', () => {
  it('holds until its time, and not a moment longer', () => {
    const { holds, clock } = holdsAt();
    holds.change({ suspension: { reason: 'INC-1', until: at(10) } });
    expect(holds.inForce.suspension).toEqual({ reason: 'INC-1', until: at(10) });
    expect(holds.endsAt).toBe(NOON + 600_000);

    clock.now = NOON + 600_000;

    expect(holds.inForce.suspension).toBeNull();
    expect(holds.expire()).toBe(true);
    expect(holds.expire()).toBe(false);
    expect(holds.endsAt).toBeNull();
  });

  it('is over when the clock jumped past its end, and stands again when it jumps back before', () => {
    const { holds, clock } = holdsAt();
    holds.change({ pin: { reason: 'release', until: at(10), commit: 'a'.repeat(40) } });
    clock.now = NOON + 86_400_000;
    expect(holds.inForce.pin).toBeNull();
    clock.now = NOON;
    expect(holds.inForce.pin).toMatchObject({ commit: 'a'.repeat(40) });
  });

  it('ends before its time when it is taken back, and the other stays', () => {
    const { holds } = holdsAt();
    holds.change({ suspension: { reason: 'INC-1', until: at(10) } });
    holds.change({ pin: { reason: 'release', until: at(20), commit: 'a'.repeat(40) } });
    expect(holds.endsAt).toBe(NOON + 600_000);
    holds.change({ suspension: null });
    expect([holds.inForce.suspension, holds.inForce.pin?.reason]).toEqual([null, 'release']);
    holds.change({ pin: null });
    expect(holds.inForce.pin).toBeNull();
  });
});

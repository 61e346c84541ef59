import { expect, it } from 'vitest';
import { statusPage } from '../../../../src/daemon/page/status-page.js';
import { aSource, DaemonInMemory, minutesAgo, NOW } from '../../../support/daemon-view.js';

it('dates the applied commit by its apply and not by its making', () => {
  const commit = { commit: 'a'.repeat(40), subject: 'Ramp pay', committedAt: minutesAgo(90) };
  const source = aSource({ seen: commit, applied: commit, appliedAt: minutesAgo(2) });

  const page = statusPage(new DaemonInMemory(source), { now: NOW, takesRequests: false });

  const [, fact = ''] = /<dt>Applied<\/dt>\s*<dd>(.*?)<\/dd>/s.exec(page) ?? [];
  expect(fact).toContain('2 min ago');
  expect(fact).not.toContain('90 min ago');
});

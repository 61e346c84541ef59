import { openCheckout } from '../../src/git/checkout.js';
import { openStateHome } from '../../src/state/open.js';

/** A run of its own that takes the lock of a directory, says so, and holds it until it is killed. */
const checkout = await openCheckout(process.argv[2] ?? '');
const home = await openStateHome({
  checkout,
  workspaceId: 'ws',
  origin: 'http://localhost',
  directory: '',
});
await home?.lock(0);
process.stdout.write('held\n');
setInterval(() => undefined, 1_000);

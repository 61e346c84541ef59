import { openCheckout } from '../../src/git/checkout.js';
import { openStateHome } from '../../src/state/open.js';

/** A run of its own that takes the lock of a directory, says so, and holds it until it is killed. */
const checkout = await openCheckout(process.argv[2] ?? '');
const key = { workspaceId: 'ws', origin: 'http://localhost', directory: '' };
const sharing = process.argv[3] === 'shared' ? 'always' : 'never';
const home = await openStateHome({ checkout, ...key }, sharing);
await home?.lock(0);
process.stdout.write('held\n');
setInterval(() => undefined, 1_000);

// Evaluates with the vendor's SDK for JavaScript. See `sdk-process.ts` for what is read and written.
import { createInterface } from 'node:readline';
import { SplitFactory } from '@splitsoftware/splitio';

const [origin, key] = process.argv.slice(2);
const urls = Object.fromEntries(
  ['sdk', 'events', 'auth', 'telemetry'].map((name) => [name, `${origin}/sdk`]),
);
const factory = SplitFactory({
  core: { authorizationKey: key },
  urls,
  scheduler: { featuresRefreshRate: 1, segmentsRefreshRate: 1 },
  sync: { impressionsMode: 'NONE' },
  debug: 'NONE',
});
const client = factory.client();
await client.ready();
process.stdout.write('"ready"\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { flags, cases } = JSON.parse(line);
  const answers = cases.map(({ key: user, attributes }) => {
    const served = client.getTreatmentsWithConfig(user, flags, attributes);
    return flags.map((flag) => [served[flag].treatment, served[flag].config]);
  });
  process.stdout.write(`${JSON.stringify(answers)}\n`);
}
await client.destroy();

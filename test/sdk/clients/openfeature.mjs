// Evaluates with OpenFeature's provider for remote evaluation. See `sdk-process.ts` for what is read and written.
import { createInterface } from 'node:readline';
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OpenFeature } from '@openfeature/server-sdk';

const [origin, key] = process.argv.slice(2);
const headers = [['authorization', `Bearer ${key}`]];
await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: origin, headers }));
const client = OpenFeature.getClient();
process.stdout.write('"ready"\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { flags, cases } = JSON.parse(line);
  const answers = [];
  for (const { key: targetingKey, attributes } of cases) {
    const context = { ...attributes, targetingKey };
    answers.push(await Promise.all(flags.map(async (flag) => evaluated(flag, context))));
  }
  process.stdout.write(`${JSON.stringify(answers)}\n`);
}

/** A flag is a truth value or a text; a provider refuses the wrong question. */
async function evaluated(flag, context) {
  const asText = await client.getStringDetails(flag, 'control', context);
  const isText = asText.errorCode !== 'TYPE_MISMATCH';
  const details = isText ? asText : await client.getBooleanDetails(flag, false, context);
  return [details.variant ?? 'control', details.flagMetadata?.configuration ?? null];
}

import * as shapes from './decode.js';
import { assertFits, written, type Writes } from './write-call.js';

export const IDENTITY_WRITES = {
  /** The service creates or updates each identity by itself, so that repeating is safe. */
  'write-identities': async ({ trafficType, trafficTypeId, identities: sent }, call) => {
    assertFits(sent);
    const identities = await written(call, {
      kind: 'write',
      method: 'POST',
      route: 'trafficTypes/:trafficType/environments/:environment/identities',
      at: { trafficType: trafficTypeId, environment: call.place.environmentId },
      body: sent,
      what: `write identities of ${JSON.stringify(trafficType)}`,
      check: (json) => shapes.identitiesAnswer(json, sent, (text) => call.client.clean(text)),
    });
    return { identities };
  },
} satisfies Partial<Writes>;

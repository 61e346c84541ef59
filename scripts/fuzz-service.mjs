// Fills a running service and prints its description for a fuzzer: names in paths become a choice of what is there
// and what is not, so that requests get past "not found".
import process from 'node:process';

const PREFIX = '/internal/api/v2';
const [origin] = process.argv.slice(2);
const key = process.env.FLAGKEEL_API_KEY;
/** Many: what is deleted early should leave enough for the rest of the run. */
const OBJECTS = Array.from({ length: 20 }, (_, index) => `object-${index}`);
const DEFINITION = {
  treatments: [{ name: 'on', keys: ['first'] }, { name: 'off' }],
  defaultTreatment: 'off',
  defaultRule: [{ treatment: 'off', size: 100 }],
};

async function call(method, path, body) {
  const response = await fetch(origin + PREFIX + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
}

await call('POST', '/workspaces', { name: 'Strict', requiresTitleAndComments: true });
await call('POST', '/environments/ws/Strict', { name: 'strict-only' });
for (const [workspace, environment] of [
  ['Default', 'staging'],
  ['Strict', 'strict-only'],
]) {
  const words = '?title=filled&comment=filled';
  if (workspace === 'Strict') await call('POST', '/trafficTypes/ws/Strict', { name: 'user' });
  for (const name of OBJECTS) {
    await call('POST', `/segments/ws/${workspace}/trafficTypes/user`, { name });
    await call('POST', `/segments/${environment}/${name}${words}`);
    await call('PUT', `/segments/${environment}/${name}/upload${words}`, ['a', 'b']);
    await call('POST', `/splits/ws/${workspace}/trafficTypes/user`, { name });
    const path = `/splits/ws/${workspace}/${name}/environments/${environment}`;
    await call('POST', path + words, DEFINITION);
  }
}

const NAMES = {
  ws: ['Default', 'Strict', 'absent'],
  env: ['staging', 'production', 'strict-only', 'absent'],
  flag: [...OBJECTS, 'absent'],
  segment: [...OBJECTS, 'absent'],
  trafficType: ['user', 'absent'],
  key: ['a', 'absent'],
};
const VALUES = {
  treatment: { enum: ['on', 'off', 'third'] },
  defaultTreatment: { enum: ['on', 'off', 'third'] },
  baselineTreatment: { enum: ['on', 'off', null] },
  size: { enum: [0, 50, 100] },
};

/** Of bodies alone: answers are held against what the service promises. */
function prepared(value, name) {
  if (Array.isArray(value)) return value.map((each) => prepared(each));
  if (value === null || typeof value !== 'object') return value;
  if (name !== undefined && Object.hasOwn(VALUES, name)) return VALUES[name];
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => [
      member,
      member === 'properties'
        ? Object.fromEntries(
            Object.entries(inner).map(([property, schema]) => [
              property,
              prepared(schema, property),
            ]),
          )
        : prepared(inner),
    ]),
  );
}

const description = await (await fetch(`${origin}/openapi.json`)).json();
for (const operation of Object.values(description.paths).flatMap((each) => Object.values(each))) {
  for (const parameter of operation.parameters) {
    const names = NAMES[parameter.name];
    if (parameter.in === 'path' && names !== undefined) {
      parameter.schema = { enum: names };
    }
    if (parameter.name === 'wsId') parameter.schema = { enum: NAMES.ws };
  }
  if (operation.requestBody) operation.requestBody = prepared(operation.requestBody);
}
// The contract has one refusal without a body, where title and comment are missing: no description of bodies says that.
delete description.paths[`${PREFIX}/splits/ws/{ws}/{flag}/environments/{env}`].patch.responses[400]
  .content;
process.stdout.write(JSON.stringify(description));

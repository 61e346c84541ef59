import { createHash } from 'node:crypto';
import type { AddRoutes } from '../service/http/app.js';
import { unauthorised } from '../service/http/problem.js';
import { isSameKey, keyFromHeaders } from '../service/rules/admin-key.js';
import { addSdkRoutes } from './applications.js';
import type { FindApplication, ServedEnvironment } from './environment.js';
import { addOfrepRoutes } from './ofrep.js';

/** Serves one environment to whoever has a key. @param key a text of any form. */
export function previewOf(environment: ServedEnvironment, key: string): AddRoutes {
  const hash = createHash('sha256').update(key).digest('hex');
  const find: FindApplication = async (request) => {
    const given = keyFromHeaders(request.headers);
    if (given === undefined || !isSameKey(given, hash)) throw unauthorised();
    return Promise.resolve({ environment, type: 'server_side' });
  };
  return (app) => {
    addSdkRoutes(app, find);
    addOfrepRoutes(app, find);
  };
}

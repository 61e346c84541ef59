import { inject } from 'vitest';

// Runs in each test file's process, where services are started.
const server = inject('postgresServer');
if (server !== null) process.env['TEST_POSTGRES_SERVER'] = server;

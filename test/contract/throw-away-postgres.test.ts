import { existsSync } from 'node:fs';
import { Client } from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { lacks } from '../support/requirements.js';

describe.skipIf(lacks('postgresql'))('the PostgreSQL server of a test file', () => {
  let postgres: TestPostgres;

  beforeAll(async () => {
    postgres = await startPostgres();
    return async () => postgres.stop();
  });

  async function setting(name: string): Promise<string> {
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    try {
      const { rows } = await client.query<{ value: string }>(
        'select current_setting($1) as value',
        [name],
      );
      return rows[0]?.value ?? '';
    } finally {
      await client.end();
    }
  }

  it('answers on loopback alone, and keeps its socket to itself', async () => {
    expect(await setting('listen_addresses')).toBe('127.0.0.1');
    expect(await setting('unix_socket_directories')).toBe(postgres.directory);
  });

  it('runs beside another one, which leaves nothing behind, though a client was still connected', async () => {
    const other = await startPostgres();
    const client = new Client({ connectionString: other.url });
    const ended = new Promise((resolve) => client.on('error', resolve));
    await client.connect();
    await other.stop();
    await ended;
    expect(existsSync(other.directory)).toBe(false);
    const late = new Client({ connectionString: other.url });
    await expect(late.connect()).rejects.toThrow('ECONNREFUSED');
    await other.stop();
    expect(await setting('port')).toBe(String(postgres.port));
  });
});

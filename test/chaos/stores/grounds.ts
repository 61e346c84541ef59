import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { StoreLocation } from '../../../src/service/store/store.js';
import { CutLine } from '../../support/cut-line.js';
import { patiently } from '../../support/patience.js';
import { createDatabase, startPostgres } from '../../support/postgres.js';
import {
  DIRECTORY_FAULTS,
  POSTGRES_FAULTS,
  faultCalled,
  type StoreFault,
} from '../../support/store-faults.js';

/** A store, and what can happen to it. */
export interface Kept {
  readonly location: StoreLocation;
  /** Breaks it for the process that serves it. @returns mends it. */
  strike(fault: string, pid: number): Promise<() => void | Promise<void>>;
  /** Nothing may have it open. */
  copy(): Promise<Kept>;
  remove(): Promise<void>;
}

/** Where services keep their stores. */
export interface Ground {
  empty(): Promise<Kept>;
  dispose(): Promise<void>;
}

export interface GroundKind {
  readonly name: 'a directory' | 'PostgreSQL';
  readonly faults: readonly StoreFault<never>[];
  readonly open: () => Promise<Ground>;
}

export const GROUNDS: readonly [directory: GroundKind, postgres: GroundKind] = [
  { name: 'a directory', faults: DIRECTORY_FAULTS, open: directories },
  { name: 'PostgreSQL', faults: POSTGRES_FAULTS, open: postgresServer },
];

export async function directories(): Promise<Ground> {
  return Promise.resolve({
    empty: async () => Promise.resolve(keptIn(newDirectory())),
    dispose: async () => Promise.resolve(),
  });
}

const newDirectory = (): string => mkdtempSync(join(tmpdir(), 'flagkeel-store-'));

function keptIn(path: string): Kept {
  return {
    location: { kind: 'directory', path },
    strike: async (fault, pid) => faultCalled(DIRECTORY_FAULTS, fault).strike({ path, pid }),
    copy: async () => {
      const copy = newDirectory();
      cpSync(path, copy, { recursive: true });
      return Promise.resolve(keptIn(copy));
    },
    remove: async () => {
      rmSync(path, { recursive: true, force: true });
      return Promise.resolve();
    },
  };
}

/** A server of its own: some faults are of all its databases. */
async function postgresServer(): Promise<Ground> {
  const postgres = await startPostgres();
  const admin = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    await client.query(statement).finally(async () => client.end());
  };
  const kept = async (url: string): Promise<Kept> => {
    const name = new URL(url).pathname.slice(1);
    const line = await CutLine.open(postgres.port);
    const lineUrl = new URL(url);
    lineUrl.port = String(line.port);
    return {
      location: { kind: 'postgres', url: lineUrl.href },
      strike: async (fault) => faultCalled(POSTGRES_FAULTS, fault).strike({ postgres, url, line }),
      copy: async () => {
        const copy = new URL(await createDatabase(postgres.url));
        await admin(`drop database ${copy.pathname.slice(1)}`);
        // The server notices only after a while that a process which it served is gone.
        await patiently(async () =>
          admin(`create database ${copy.pathname.slice(1)} template ${name}`),
        );
        return kept(copy.href);
      },
      remove: async () => {
        await line.close();
        await admin(`drop database ${name} with (force)`);
      },
    };
  };
  return {
    empty: async () => kept(await createDatabase(postgres.url)),
    dispose: async () => postgres.stop(),
  };
}

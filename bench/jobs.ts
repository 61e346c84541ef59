import { API_PREFIX } from '../src/admin-api/wire.js';
import { EMPTY_SEGMENT, flagName, FULL_SEGMENT } from './fill.js';

export const JOB_NAMES = [
  'get-definition',
  'get-definition-anew',
  'get-definition-mixed',
  'list-definitions',
  'list-definitions-anew',
  'patch-definition',
  'upload-keys',
  'list-keys',
] as const;

export type JobName = (typeof JOB_NAMES)[number];

/** A bounded number of requests of one kind. */
export interface LoadJob {
  readonly name: JobName;
  readonly method: 'GET' | 'PATCH' | 'PUT';
  /** `http://HOST:PORT` */
  readonly origin: string;
  /** In place of the interface's own prefix; names the answer at the bare server. */
  readonly prefix: string;
  readonly key: string;
  readonly concurrency: number;
  /** The least number, after a warm-up of a fifth of it. */
  readonly count: number;
  /** Milliseconds: a shorter measurement goes on with further requests. */
  readonly leastMs: number;
  /** Number of the first request: rounds that write never write the same. */
  readonly first: number;
  readonly flags: number;
}

interface JobKind {
  readonly title: string;
  readonly method: LoadJob['method'];
  readonly count: number;
  readonly concurrency: number;
  /** Something is changed before each round, and no request comes twice: nothing is remembered. */
  readonly anew?: boolean;
  /** Every so many requests one changes something. */
  readonly writeEvery?: number;
}

export const JOBS: Readonly<Record<JobName, JobKind>> = {
  'get-definition': {
    title: 'GET of one definition',
    method: 'GET',
    count: 10_000,
    concurrency: 50,
  },
  'get-definition-anew': {
    title: 'GET of one definition, each for the first time after a change',
    method: 'GET',
    count: 4_000,
    concurrency: 50,
    anew: true,
  },
  'get-definition-mixed': {
    title: 'GET of one definition, with one PATCH for 100',
    method: 'GET',
    count: 10_000,
    concurrency: 50,
    writeEvery: 101,
  },
  'list-definitions': {
    title: 'list of definitions, pages of 50',
    method: 'GET',
    count: 1_500,
    concurrency: 50,
  },
  'list-definitions-anew': {
    title: 'list of definitions, each page for the first time after a change',
    method: 'GET',
    count: 150,
    concurrency: 50,
    anew: true,
  },
  'patch-definition': {
    title: 'PATCH of a definition',
    method: 'PATCH',
    count: 2_000,
    concurrency: 50,
  },
  'upload-keys': { title: 'upload of 10,000 keys', method: 'PUT', count: 50, concurrency: 2 },
  'list-keys': {
    title: 'list of keys, pages of 100 out of 100,000',
    method: 'GET',
    count: 2_000,
    concurrency: 50,
  },
};

export const SERVICE_PREFIX = API_PREFIX;

const KEYS_PER_UPLOAD = 10_000;
const PAGE_OF_KEYS = 100;
const PAGE_OF_DEFINITIONS = 50;
const KEYS_IN_SEGMENT = 100_000;

/** Spreads over the whole store, and alike in every run. */
const spread = (index: number, size: number): number => (index * 7_919) % size;

export interface LoadRequest {
  readonly path: string;
  readonly body?: string;
  /** Default: that of the job. */
  readonly method?: LoadJob['method'];
}

export function requestOf(job: LoadJob, index: number): LoadRequest {
  const flag = flagName(spread(index, job.flags));
  const definition = `${job.prefix}/splits/ws/Default/${flag}/environments/production`;
  switch (job.name) {
    case 'get-definition':
    case 'get-definition-anew':
      return { path: definition };
    case 'get-definition-mixed':
      return index % (JOBS[job.name].writeEvery ?? Infinity) === 0
        ? requestOf({ ...job, name: 'patch-definition' }, index)
        : { path: definition };
    case 'list-definitions':
    case 'list-definitions-anew': {
      const pages = Math.ceil(job.flags / PAGE_OF_DEFINITIONS);
      const offset = spread(index, pages) * PAGE_OF_DEFINITIONS;
      const query = `limit=${PAGE_OF_DEFINITIONS}&offset=${offset}`;
      return { path: `${job.prefix}/splits/ws/Default/environments/production?${query}` };
    }
    case 'patch-definition': {
      const value = `The new way, try ${index}`;
      return {
        method: 'PATCH',
        path: `${definition}?title=bench&comment=bench`,
        body: JSON.stringify([{ op: 'replace', path: '/treatments/0/description', value }]),
      };
    }
    case 'upload-keys': {
      const keys = Array.from({ length: KEYS_PER_UPLOAD }, (_, at) => `guest-${index}-${at}`);
      return {
        path: `${job.prefix}/segments/production/${EMPTY_SEGMENT}/uploadKeys?replace=true&title=bench&comment=bench`,
        body: JSON.stringify({ keys }),
      };
    }
    case 'list-keys': {
      const offset = spread(index, KEYS_IN_SEGMENT / PAGE_OF_KEYS) * PAGE_OF_KEYS;
      const query = `limit=${PAGE_OF_KEYS}&offset=${offset}`;
      return { path: `${job.prefix}/segments/dev/${FULL_SEGMENT}/keys?${query}` };
    }
  }
}

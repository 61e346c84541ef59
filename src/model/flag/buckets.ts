import type { Buckets } from '../../generated/flag.schema.d.js';
import type { Bucket } from './flag.js';
import {
  invalid,
  unknownTreatment,
  valid,
  type Checked,
  type SpecFault,
  type SpecPath,
} from '../diagnostic.js';

interface WrittenBucket {
  readonly treatment: string;
  readonly size: number | 'rest';
  /** Empty for the shorthand, whose treatment is the value itself. */
  readonly path: SpecPath;
}

/**
 * Buckets in the order in which they are sent: that of `treatments`, or as written where the spec is a list. Computes
 * `rest` and drops buckets of size 0.
 *
 * @param treatments names in bucket order.
 */
export function bucketsOf(spec: Buckets, treatments: readonly string[]): Checked<Bucket[]> {
  const written = writtenBuckets(spec);
  const unknown = written
    .filter(({ treatment }) => !treatments.includes(treatment))
    .map(({ treatment, path }) =>
      unknownTreatment(treatment, treatments, { path, at: path.length === 0 ? 'value' : 'key' }),
    );
  const faults = [...unknown, ...twiceFaults(written), ...sumFaults(written)];
  if (faults.length > 0) return invalid(...faults);
  const rest = 100 - fixedSum(written);
  const served = written.filter(({ size }) => (size === 'rest' ? rest : size) > 0);
  const ordered = Array.isArray(spec)
    ? served
    : served.toSorted((a, b) => treatments.indexOf(a.treatment) - treatments.indexOf(b.treatment));
  return valid(
    ordered.map(({ treatment, size }) => ({ treatment, size: size === 'rest' ? rest : size })),
  );
}

/** The written buckets of size 0; `rest` may be one of them. */
export function emptyBuckets(spec: Buckets): { treatment: string; path: SpecPath }[] {
  const written = writtenBuckets(spec);
  const rest = 100 - fixedSum(written);
  return written.filter(({ size }) => (size === 'rest' ? rest : size) === 0);
}

function writtenBuckets(spec: Buckets): WrittenBucket[] {
  if (typeof spec === 'string') return [{ treatment: spec, size: 100, path: [] }];
  const maps = Array.isArray(spec)
    ? spec.map((each, i) => ({ each, at: [i] }))
    : [{ each: spec, at: [] }];
  return maps.flatMap(({ each, at }) =>
    Object.entries(each).map(([treatment, size]) => ({
      treatment,
      size,
      path: [...at, treatment],
    })),
  );
}

function twiceFaults(written: readonly WrittenBucket[]): SpecFault[] {
  return written
    .filter(({ treatment }, i) => written.findIndex((each) => each.treatment === treatment) < i)
    .map(({ treatment, path }) => ({
      code: 'bucket-twice',
      path,
      at: 'key',
      message: `"${treatment}" has a bucket already`,
    }));
}

function sumFaults(written: readonly WrittenBucket[]): SpecFault[] {
  const rests = written.filter(({ size }) => size === 'rest');
  const sum = fixedSum(written);
  const [, second] = rests;
  if (second !== undefined) {
    const message = 'only one bucket can be "rest"';
    return [{ code: 'bucket-sum', path: second.path, at: 'value', message }];
  }
  if (rests.length === 1 ? sum <= 100 : sum === 100) return [];
  const message =
    rests.length === 1
      ? `the sizes sum to ${sum} before "rest"; they cannot be more than 100`
      : `the sizes sum to ${sum}, not to 100 (one of them may be "rest")`;
  return [{ code: 'bucket-sum', path: [], at: 'value', message }];
}

function fixedSum(written: readonly WrittenBucket[]): number {
  return written.reduce((sum, { size }) => sum + (size === 'rest' ? 0 : size), 0);
}

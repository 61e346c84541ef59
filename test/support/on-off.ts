import type { Bucket } from '../../src/model/flag/flag.js';

/** Buckets that serve `on` to so many percent, and `off` to the rest, also where that is nobody. */
export function onOff(on: number): Bucket[] {
  return [
    { treatment: 'on', size: on },
    { treatment: 'off', size: 100 - on },
  ];
}

/** The same without a bucket for nobody. */
export function sharesOf(on: number): Bucket[] {
  return onOff(on).filter(({ size }) => size > 0);
}

import { setFlagsFromString } from 'node:v8';

/** How much more than is used after a collection may be in use before the next one, in per cent. */
const GROWING_PERCENT = 20;

/**
 * From here on the process collects its garbage earlier, for as long as it lives: for one that ends soon and holds much. By itself it
 * lets up to three times as much pile up as is used, and buffers outside of the heap besides. May be repeated.
 */
export function holdLittleGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}

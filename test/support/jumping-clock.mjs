/*
 * Loaded before a program with `NODE_OPTIONS=--import`: its wall clock is off by the milliseconds that the file
 * `TEST_CLOCK_OFF_BY` holds at the moment, as that of a machine whose clock was set. The steady clock is left alone.
 */
import { readFileSync } from 'node:fs';

const TrueDate = Date;

function offByMs() {
  try {
    return Number(readFileSync(process.env.TEST_CLOCK_OFF_BY, 'utf8'));
  } catch {
    return 0;
  }
}

globalThis.Date = class Date extends TrueDate {
  constructor(...args) {
    if (args.length === 0) super(TrueDate.now() + offByMs());
    else super(...args);
  }

  static now() {
    return TrueDate.now() + offByMs();
  }
};

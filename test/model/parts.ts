import type { Part } from './explorer.js';
import { EDITABLE, FIELDS } from './small-world.js';

/** The parts of a small world that are explored: the whole, and some in which everything that can be reached is. */
export const PARTS = {
  whole: {
    commits: FIELDS,
    edits: EDITABLE,
    acts: ['kill', 'restore', 'remove', 'lose the state', 'roll back'],
  },
  'one definition': {
    commits: ['a@production on', 'a@production allocation'],
    edits: ['a@production on', 'a@production allocation'],
    acts: ['roll back', 'lose the state', 'stop', 'overtake'],
  },
  kills: {
    commits: ['a@production on', 'a@production killed', 'a@production listed'],
    edits: ['a@production on'],
    acts: ['kill', 'restore', 'lose the state', 'stop', 'overtake'],
  },
  removals: {
    commits: ['b@production rule', 's@production keys', 'a there', 's there'],
    edits: ['s@production keys'],
    acts: ['remove', 'lose the state', 'stop', 'overtake'],
  },
} as const satisfies Readonly<Record<string, Part>>;

export type PartName = keyof typeof PARTS;

/** Kills by hand and a state that may be lost, and nothing else: for a test that waits. */
export const LIVE_KILLS: Part = {
  commits: [],
  edits: [],
  acts: ['kill', 'restore', 'lose the state'],
};

import { FlagkeelError } from '../../src/errors.js';
import { keyOf } from '../../src/model/ref.js';
import type { LeftKilled, State, StateEntry } from '../../src/model/state.js';
import { entryPath, fileText, parseEntryFile } from '../../src/state/codec.js';
import { NOTHING } from '../../src/state/known-state.js';
import type { StateHome, StateMeta } from '../../src/state/store.js';

/** All that a state ref holds, as text: path → content of its entries, and what its record says. */
export interface Remembered {
  readonly files: readonly (readonly [path: string, text: string])[];
  readonly head: string | null;
  readonly outOfSync: readonly string[] | null;
  readonly leftKilled: LeftKilled;
  /** Whether there is a ref at all. */
  readonly exists: boolean;
}

export const NOTHING_REMEMBERED: Remembered = {
  files: [],
  head: null,
  outOfSync: null,
  leftKilled: {},
  exists: false,
};

/** The state ref of a small world, which several runs may open. */
export class MemoryRef {
  held: Remembered;
  /** The messages of its commits, in order. */
  readonly messages: string[] = [];
  /** Called after each commit. */
  onCommit: () => void = () => undefined;
  /** What a reading finds instead; for planted errors. */
  reads: (state: State, held: Remembered) => State = (state) => state;
  /** What is written instead; for planted errors. */
  writes: (state: State) => State = (state) => state;

  constructor(held: Remembered) {
    this.held = held;
  }

  /** The home of one run: what it writes goes on from what it read last. */
  open(): StateHome {
    let read: Remembered | null = null;
    const after = (
      from: Remembered,
      next: State,
      {
        head,
        outOfSync,
        leftKilled = from.leftKilled,
      }: Partial<StateMeta> & Pick<StateMeta, 'head'>,
    ): Remembered => {
      const listed = outOfSync === undefined ? from.outOfSync : outOfSync && [...outOfSync].sort();
      return { files: filesOf(next), head, outOfSync: listed, leftKilled, exists: true };
    };
    const home: StateHome = {
      beforeWrite: async () => Promise.resolve(),
      ref: 'refs/flagkeel/ws-1/small',
      gitDir: '/small/.git',
      lock: async () => Promise.resolve(async () => Promise.resolve()),
      read: async () => {
        read = this.held;
        const { head, outOfSync, leftKilled, exists } = this.held;
        const state = this.reads(stateOf(this.held), this.held);
        const listed = outOfSync && new Set(outOfSync);
        return Promise.resolve({
          ...NOTHING,
          ...{ state, head, leftKilled },
          commit: exists ? String(this.messages.length).padStart(40, '1') : null,
          outOfSync: listed,
        });
      },
      wouldChange: (next, meta) => {
        const from = read ?? this.held;
        return meta.isRecord === true || !isSame(after(from, next, meta), from);
      },
      appliedHere: async () => Promise.resolve(this.held.head),
      write: async (next, { message, isRecord = false, ...meta }) => {
        await home.beforeWrite();
        const from = read ?? this.held;
        const made = after(from, this.writes(next), meta);
        if (isSame(made, from) && !isRecord) return;
        if (!isSame(from, this.held)) {
          throw new FlagkeelError('IN_USE', 'cannot write the state: another run moved it');
        }
        this.held = made;
        read = made;
        this.messages.push(message);
        this.onCommit();
      },
      notShared: () => null,
      history: async () => Promise.resolve([]),
    };
    return home;
  }
}

export function stateOf({ files }: Remembered): State {
  return new Map(
    files.map(([path, text]) => {
      const entry = parsed(path, text);
      return [keyOf(entry.kind, entry.name), entry] as const;
    }),
  );
}

const known = new Map<string, ReturnType<typeof parseEntryFile>>();

/** By the program's own reader; each text once. */
function parsed(path: string, text: string): ReturnType<typeof parseEntryFile> {
  const found = known.get(text) ?? parseEntryFile(path, text);
  known.set(text, found);
  return found;
}

function filesOf(state: State): Remembered['files'] {
  return [...state.values()]
    .map((entry) => [entryPath(entry), textOf(entry)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

const texts = new WeakMap<StateEntry, string>();

/** By the program's own writer; each entry once. */
function textOf(entry: StateEntry): string {
  const text = texts.get(entry) ?? fileText(entry);
  texts.set(entry, text);
  return text;
}

function isSame(a: Remembered, b: Remembered): boolean {
  return a === b || rememberedText(a) === rememberedText(b);
}

/** All of it in one text: what is equal has the same. */
export function rememberedText({ files, head, outOfSync, leftKilled, exists }: Remembered): string {
  const listed = outOfSync?.join(' ') ?? 'null';
  const left = JSON.stringify(leftKilled);
  return `${head ?? ''}\n${listed}\n${left}\n${Number(exists)}\n${files.map(([, text]) => text).join('')}`;
}

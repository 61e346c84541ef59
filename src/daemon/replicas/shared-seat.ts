import { messageOf } from '../../errors.js';
import type { Log } from '../../log.js';
import type { HoldState, Seat, SeatEvents, SharedRun, Turn } from '../seat.js';
import type { Trigger } from '../view.js';
import { killsFence, leaseFence } from './fences.js';
import type { HeldLease, LeaseKeeper } from './lease-keeper.js';
import type { TriggerQueue } from './queue.js';
import type { NumberedRun, SharedRecord } from './shared-record.js';

export interface SharedSeatOptions {
  /** The same in all replicas, and in no other daemon over the same database. */
  readonly key: string;
  readonly replica: string;
  readonly keeper: LeaseKeeper;
  readonly queue: TriggerQueue;
  readonly record: SharedRecord;
  readonly log: Log;
}

export const NOTHING_HELD: HoldState = { suspension: null, pin: null };

/** The seat of a source that several replicas may keep: a lease says which of them does. */
export class SharedSeat implements Seat {
  readonly key: string;
  readonly #options: SharedSeatOptions;
  #events: SeatEvents | null = null;
  #lease: HeldLease | null = null;
  #endTaking: Promise<() => Promise<void>> | null = null;
  #turns = 0;
  /** The database does not answer: nobody knows who keeps the source. */
  #isCutOff = false;
  #lastRun = 0;
  /** Asked of us, and not in the database yet. */
  #unshared: Partial<HoldState> = {};

  constructor(options: SharedSeatOptions) {
    this.#options = options;
    this.key = options.key;
  }

  get isHeld(): boolean {
    return this.#lease !== null && !this.#lease.lost.aborted;
  }

  /** Nothing would be cut if another replica took over. */
  get isIdle(): boolean {
    return this.#turns === 0;
  }

  /** Number of the last run that its source was told of. */
  get lastRun(): number {
    return this.#lastRun;
  }

  attach(events: SeatEvents): void {
    this.#events = events;
  }

  /** Tries to sit down. @returns whether that is done. */
  async take(): Promise<boolean> {
    const { keeper, log } = this.#options;
    const lease = await keeper.take(this.key);
    if (lease === null) return false;
    try {
      // The first run must not write what somebody has just asked to be held back.
      await this.#learnHolds();
    } catch (error) {
      await keeper.giveBack(lease);
      throw error;
    }
    this.#lease = lease;
    log.info({ term: lease.term }, 'this replica keeps the source now');
    lease.lost.addEventListener('abort', () => {
      this.#onLost(lease);
    });
    this.#events?.onLead();
    await this.listen();
    return true;
  }

  /** Lets another replica sit down at once. */
  async leave(): Promise<void> {
    const lease = this.#lease;
    this.#lease = null;
    await this.#stopTaking();
    if (lease === null) return;
    this.#events?.onLost();
    await this.#options.keeper.giveBack(lease);
  }

  begin(): Turn | null {
    const { keeper } = this.#options;
    const lease = this.isHeld ? this.#lease : null;
    if (lease === null && !this.#isCutOff) return null;
    const doubt = new AbortController();
    this.#turns += 1;
    const end = (): void => {
      this.#turns -= 1;
    };
    if (lease === null) {
      const fence: Turn['fence'] = (seenAtMs) => killsFence(this.key, { keeper, doubt, seenAtMs });
      return { signal: doubt.signal, killsOnly: true, fence, end };
    }
    return {
      signal: AbortSignal.any([lease.lost, doubt.signal]),
      fence: (seenAtMs) => leaseFence(lease, { keeper, doubt, seenAtMs }),
      end,
    };
  }

  forward(trigger: Trigger): void {
    const { queue, log } = this.#options;
    queue.put(this.key, trigger).catch((error: unknown) => {
      log.error({ trigger, why: messageOf(error) }, 'cannot tell the other replicas');
    });
  }

  async keep(run: SharedRun): Promise<void> {
    const { record, log } = this.#options;
    try {
      await record.addRun(this.key, run);
    } catch (error) {
      log.warn({ run: run.run.id, why: messageOf(error) }, 'run is not in the shared history');
    }
  }

  share(changed: Partial<HoldState>): void {
    this.#unshared = { ...this.#unshared, ...changed };
    this.flush().catch((error: unknown) => {
      this.#options.log.warn({ why: messageOf(error) }, 'cannot tell the other replicas yet');
    });
  }

  /** Brings to the database what is held back, and wakes the replica that sits here. */
  async flush(): Promise<void> {
    const { record } = this.#options;
    const { suspension, pin } = this.#unshared;
    if (suspension === undefined && pin === undefined) return;
    if (suspension !== undefined) await record.setHold(this.key, 'suspension', suspension);
    if (pin !== undefined) await record.setHold(this.key, 'pin', pin);
    // What was asked meanwhile stays for the next time.
    const { suspension: laterSuspension, pin: laterPin } = this.#unshared;
    this.#unshared = {
      ...(laterSuspension !== suspension && { suspension: laterSuspension }),
      ...(laterPin !== pin && { pin: laterPin }),
    };
    if (!this.isHeld) this.forward('request');
  }

  /** What the database has; what is not there yet stays. */
  onShared({ runs, holds }: { runs: readonly NumberedRun[]; holds: HoldState }): void {
    this.#lastRun = runs.at(-1)?.number ?? this.#lastRun;
    const others = runs.filter(({ replica }) => replica !== this.#options.replica);
    if (others.length > 0) this.#events?.onRuns(others.map(({ run }) => run));
    this.#events?.onHolds({ ...holds, ...this.#unshared });
  }

  async #learnHolds(): Promise<void> {
    const holds = (await this.#options.record.holds()).get(this.key) ?? NOTHING_HELD;
    this.#events?.onHolds({ ...holds, ...this.#unshared });
  }

  onTrouble(why: string | null): void {
    this.#events?.onTrouble(why);
  }

  /** Whether the database does not answer. May be repeated. */
  onCutOff(isCutOff: boolean): void {
    const isNews = isCutOff && !this.#isCutOff;
    this.#isCutOff = isCutOff;
    // A kill may have come while nobody kept the source.
    if (isNews) this.#events?.onTrigger('start');
  }

  #onLost(lease: HeldLease): void {
    if (this.#lease !== lease) return;
    this.#lease = null;
    this.#options.log.warn({ term: lease.term }, 'this replica keeps the source no longer');
    void this.#stopTaking();
    this.#events?.onLost();
  }

  /** Takes what others were asked, while this replica sits here. May be repeated. */
  async listen(): Promise<void> {
    const { queue } = this.#options;
    if (!this.isHeld) return;
    this.#endTaking ??= queue.take(this.key, async (trigger) => {
      if (!this.isHeld) return false;
      await this.#learnHolds();
      this.#events?.onTrigger(trigger);
      return true;
    });
    try {
      await this.#endTaking;
    } catch (error) {
      this.#endTaking = null;
      throw error;
    }
  }

  async #stopTaking(): Promise<void> {
    const taking = this.#endTaking;
    this.#endTaking = null;
    try {
      await (
        await taking
      )?.();
    } catch (error) {
      this.#options.log.debug({ why: messageOf(error) }, 'queue of the replicas');
    }
  }
}

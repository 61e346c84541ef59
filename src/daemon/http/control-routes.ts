import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Log } from '../../platform/log.js';
import { newestPlanned } from '../health.js';
import { type Access, Refusal } from './access.js';
import type { DaemonControls, DaemonView } from '../view.js';

export interface ControlOptions {
  readonly view: DaemonView;
  readonly controls: DaemonControls;
  readonly access: Access;
  readonly log: Log;
  readonly now: () => number;
}

export const MAX_BODY_BYTES = 16 * 1024;

/** Control endpoints. They only enqueue (202); poll /status for the result. */
export function addControlRoutes(app: FastifyInstance, options: ControlOptions): void {
  const { view, controls, log, now } = options;
  app.addHook('onRequest', async (request) => {
    refuseCrossSite(request);
    await options.access.require(request);
  });
  const add = (path: string, act: (body: unknown) => Asked): void => {
    app.post(path, { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
      const asked = act(request.body);
      const by = options.access.nameOf(request);
      log.info({ request: path, by, ...asked }, 'asked by request');
      return reply.code(202).send({ accepted: true, ...asked });
    });
  };
  add('/reconcile', (body) => {
    const source = sourceOf(view, targetBody(body));
    controls.trigger(source, 'request');
    return { source };
  });
  add('/suspend', (body) => {
    const { reason, until, ...target } = overrideBody(body, now());
    const source = sourceOf(view, target);
    controls.suspend(source, { reason, until });
    return { source, reason, until };
  });
  add('/resume', (body) => {
    const source = sourceOf(view, targetBody(body));
    controls.resume(source);
    return { source };
  });
  add('/pin', (body) => {
    const { commit, reason, until, ...target } = pinBody(body, now());
    const source = oneSourceOf(view, target);
    controls.pin(source, { commit, reason, until });
    return { source, commit, reason, until };
  });
  add('/adopt', (body) => {
    const { run, ...target } = adoptBody(body);
    const source = oneSourceOf(view, target);
    refuseOldPlan(view, source, run);
    controls.trigger(source, 'adopt');
    return { source, run };
  });
  add('/unpin', (body) => {
    const source = oneSourceOf(view, targetBody(body));
    controls.unpin(source);
    return { source };
  });
}

/** A request as the answer and the log repeat it. */
interface Asked {
  /** null for all sources. */
  readonly source: string | null;
  readonly reason?: string;
  readonly until?: string;
  readonly commit?: string;
  readonly run?: string;
}

/** Rejects requests from pages of other sites, even with a valid token. */
function refuseCrossSite({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  const isOurs = site === undefined || site === 'same-origin' || site === 'none';
  const { origin, host } = headers;
  const isOurOrigin = origin === undefined || hostOf(origin) === host;
  if (isOurs && isOurOrigin) return;
  throw new Refusal(403, 'cannot do what was asked: it came from a page of another site');
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** @returns null for all sources. */
function sourceOf(view: DaemonView, { source }: TargetBody): string | null {
  const names = view.sources().map(({ name }) => name);
  if (source === undefined) return null;
  if (names.includes(source)) return source;
  throw new Refusal(404, `cannot find that source (known: ${names.join(', ')})`);
}

/** A body may leave out the source when the daemon has only one. */
export function oneSourceOf(view: DaemonView, body: TargetBody): string {
  const names = view.sources().map(({ name }) => name);
  const [only] = names;
  const name = sourceOf(view, body) ?? (names.length === 1 ? only : undefined);
  if (name !== undefined) return name;
  throw new Refusal(400, `cannot tell which source is meant (say "source": ${names.join(', ')})`);
}

/** Checked body of a write endpoint. Without `source` the request is for all sources. */
interface TargetBody {
  readonly source?: string;
}

export interface OverrideBody extends TargetBody {
  readonly reason: string;
  /** ISO 8601, UTC. */
  readonly until: string;
}

export interface PinBody extends OverrideBody {
  readonly commit: string;
}

const MINUTE_MS = 60_000;
const UNITS_MS = { s: 1_000, m: MINUTE_MS, h: 60 * MINUTE_MS, d: 24 * 60 * MINUTE_MS } as const;

/** Longer than any incident. Permanent changes belong in git. */
const LONGEST_MS = 30 * UNITS_MS.d;
export const LONGEST_REASON = 500;

/** @throws Refusal 400 for an invalid body. */
function targetBody(body: unknown): TargetBody {
  return target(fieldsOf(body, ['source']));
}

/** @throws Refusal 400 for an invalid body, such as one without a reason or an end within 30 days. */
function overrideBody(body: unknown, now: number): OverrideBody {
  const fields = fieldsOf(body, ['source', 'reason', 'for', 'until']);
  if ((textOf(fields, 'reason') ?? '').trim() === '') throw unusable('"reason" must say why');
  return setOverride(fields, now);
}

/** A pin needs no reason. @throws Refusal 400 for an invalid body. */
function pinBody(body: unknown, now: number): PinBody {
  const fields = fieldsOf(body, ['source', 'reason', 'for', 'until', 'commit']);
  const commit = textOf(fields, 'commit');
  if (commit === undefined || !/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(commit)) {
    throw unusable('"commit" must be the full name of a commit, in lower-case hex');
  }
  return { ...setOverride(fields, now), commit };
}

/** @throws Refusal 400 for an invalid body. */
function adoptBody(body: unknown): TargetBody & { readonly run: string } {
  const fields = fieldsOf(body, ['source', 'run']);
  const run = textOf(fields, 'run');
  if (run === undefined) throw unusable('"run" must be the id of the run whose plan was looked at');
  return { ...target(fields), run };
}

/**
 * Adopts only differences that a person has seen, not those that another run is about to find.
 *
 * @throws Refusal 409 if another run has planned since, or is under way.
 */
function refuseOldPlan(view: DaemonView, source: string, run: string): void {
  const { runs = [], phase = 'idle' } = view.sources().find(({ name }) => name === source) ?? {};
  const newest = newestPlanned(runs)?.id ?? 'none';
  if (newest !== run) throw stale(`the newest plan is that of ${newest}`);
  if (phase !== 'idle' && phase !== 'backing-off') throw stale('another run is about to look');
}

function stale(why: string): Refusal {
  return new Refusal(
    409,
    `cannot adopt what that run has found: ${why} (look again, then ask again)`,
  );
}

export type Fields = Readonly<Record<string, unknown>>;

/** @throws Refusal 400 if the body is not an object or has an unknown field. */
export function fieldsOf(body: unknown, known: readonly string[]): Fields {
  if (body === undefined || body === null) return {};
  if (typeof body !== 'object' || Array.isArray(body)) throw unusable('it must be a JSON object');
  const stranger = Object.keys(body).find((name) => !known.includes(name));
  if (stranger !== undefined) {
    throw unusable(
      `it has no field ${JSON.stringify(stranger.slice(0, 40))} (known: ${known.join(', ')})`,
    );
  }
  return body as Fields;
}

export function target(fields: Fields): TargetBody {
  const source = textOf(fields, 'source');
  return source === undefined ? {} : { source };
}

function setOverride(fields: Fields, now: number): OverrideBody {
  const reason = textOf(fields, 'reason')?.trim() ?? 'no reason given';
  if (reason.length > LONGEST_REASON) {
    throw unusable(`"reason" must be at most ${String(LONGEST_REASON)} characters long`);
  }
  return { ...target(fields), reason, until: untilOf(fields, now) };
}

function untilOf(fields: Fields, now: number): string {
  const [length, end] = [textOf(fields, 'for'), textOf(fields, 'until')];
  if ((length === undefined) === (end === undefined)) {
    throw unusable('it must say either "for" (such as "30m" or "2h") or "until" (a time)');
  }
  const at = length === undefined ? timeOf(end ?? '') : now + lengthOf(length);
  if (!(at > now && at <= now + LONGEST_MS)) {
    throw unusable('it must end in the future, and within 30 days');
  }
  return new Date(at).toISOString();
}

function lengthOf(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (count === undefined) throw unusable('"for" must be such as "90s", "30m", "2h" or "1d"');
  return Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

/** Requires an offset: a time without one depends on the reader's zone. */
function timeOf(text: string): number {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const at = isTime ? Date.parse(text) : NaN;
  if (Number.isNaN(at)) throw unusable('"until" must be a time such as "2026-10-03T22:00:00Z"');
  return at;
}

/** @throws Refusal 400 if the field is not text. */
export function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || typeof value === 'string') return value;
  throw unusable(`"${name}" must be text`);
}

export function unusable(why: string): Refusal {
  return new Refusal(400, `cannot use the body: ${why}`);
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isRecord } from '../../model/json.js';
import { parseDuration, UNIT_MS } from '../../platform/clock.js';
import { heldBy, newestPlanned } from '../health.js';
import { Refusal, type Surface } from './access.js';
import type { ActiveOverrides, DaemonView, Approval, Hold, SourceView } from '../view.js';

const MAX_BODY_BYTES = 16 * 1024;

/** Endpoints that ask the daemon for something. They only enqueue (202); poll /status for the result. */
export function addControlRoutes(app: FastifyInstance, surface: Surface): void {
  const { daemon, access, log, now } = surface;
  app.addHook('onRequest', async (request) => {
    refuseCrossSite(request);
    await access.require(request);
  });
  const add = (path: string, known: readonly string[], act: (fields: Fields) => Asked): void => {
    app.post(path, { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
      const asked = act(fieldsOf(request.body, known));
      const by = access.nameOf(request);
      log.info({ request: path, by, ...asked }, 'asked by request');
      return reply.code(202).send({ accepted: true, ...asked });
    });
  };
  const override = (source: string | null, asked: Partial<ActiveOverrides>): Asked => {
    daemon.override(source, asked);
    return { source };
  };
  add('/reconcile', ['source'], (fields) => {
    const source = sourceOf(daemon, fields);
    daemon.trigger(source, 'request');
    return { source };
  });
  add('/suspend', ['source', 'reason', 'for', 'until'], (fields) => {
    if ((textOf(fields, 'reason') ?? '').trim() === '') throw unusable('"reason" must say why');
    const suspension = holdOf(fields, now());
    return { ...override(sourceOf(daemon, fields), { suspension }), ...suspension };
  });
  add('/resume', ['source'], (fields) => override(sourceOf(daemon, fields), { suspension: null }));
  add('/pin', ['source', 'reason', 'for', 'until', 'commit'], (fields) => {
    const pin = { commit: commitOf(fields), ...holdOf(fields, now()) };
    return { ...override(oneSourceOf(daemon, fields).name, { pin }), ...pin };
  });
  add('/adopt', ['source', 'run'], (fields) => {
    const run = textOf(fields, 'run');
    if (run === undefined) {
      throw unusable('"run" must be the id of the run whose plan was looked at');
    }
    const source = oneSourceOf(daemon, fields);
    refuseAdoption(source, run);
    daemon.trigger(source.name, 'adopt');
    return { source: source.name, run };
  });
  add('/unpin', ['source'], (fields) => override(oneSourceOf(daemon, fields).name, { pin: null }));
  addApproveRoute(app, surface);
}

interface Asked {
  readonly source: string | null;
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

function sourceOf(view: DaemonView, fields: Fields): string | null {
  const source = textOf(fields, 'source');
  const names = view.sources().map(({ name }) => name);
  if (source === undefined) return null;
  if (names.includes(source)) return source;
  throw new Refusal(404, `cannot find that source (known: ${names.join(', ')})`);
}

/** A body may leave out the source when the daemon has only one. */
function oneSourceOf(view: DaemonView, fields: Fields): SourceView {
  const named = sourceOf(view, fields);
  const [only, ...others] = view.sources().filter(({ name }) => named === null || name === named);
  if (only !== undefined && others.length === 0) return only;
  const names = view.sources().map(({ name }) => name);
  throw new Refusal(400, `cannot tell which source is meant (say "source": ${names.join(', ')})`);
}

/** Permanent changes belong in git. */
const LONGEST_MS = 30 * UNIT_MS.d;
const LONGEST_REASON = 500;

function commitOf(fields: Fields): string {
  const commit = textOf(fields, 'commit');
  if (commit !== undefined && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(commit)) return commit;
  throw unusable('"commit" must be the full name of a commit, in lower-case hex');
}

/**
 * A person adopts only differences that they have seen, not those that another run is about to find, and only if the
 * next run writes. @throws Refusal 409
 */
function refuseAdoption({ runs, phase, suspended }: SourceView, run: string): void {
  if (suspended !== null) {
    throw new Refusal(409, 'cannot adopt: the source is suspended (ask again once that is over)');
  }
  const newest = newestPlanned(runs)?.id ?? 'none';
  const isQuiet = phase === 'idle' || phase === 'backing-off';
  if (newest === run && isQuiet) return;
  const why =
    newest === run ? 'another run is about to look' : `the newest plan is that of ${newest}`;
  const wayOut = 'look again, then ask again';
  throw new Refusal(409, `cannot adopt what that run has found: ${why} (${wayOut})`);
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(body: unknown, known: readonly string[]): Fields {
  if (body === undefined || body === null) return {};
  if (!isRecord(body)) throw unusable('it must be a JSON object');
  const stranger = Object.keys(body).find((name) => !known.includes(name));
  if (stranger !== undefined) {
    const field = JSON.stringify(stranger.slice(0, 40));
    throw unusable(`it has no field ${field} (known: ${known.join(', ')})`);
  }
  return body;
}

function holdOf(fields: Fields, now: number): Hold {
  return { reason: reasonOf(fields), until: untilOf(fields, now) };
}

function reasonOf(fields: Fields): string {
  const reason = textOf(fields, 'reason')?.trim() ?? 'no reason given';
  if (reason.length <= LONGEST_REASON) return reason;
  throw unusable(`"reason" must be at most ${String(LONGEST_REASON)} characters long`);
}

function untilOf(fields: Fields, now: number): string {
  const length = textOf(fields, 'for');
  const end = textOf(fields, 'until');
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
  const ms = /^\d{1,9}[smhd]$/.test(text) ? parseDuration(text) : undefined;
  if (ms !== undefined) return ms;
  throw unusable('"for" must be such as "90s", "30m", "2h" or "1d"');
}

/** Requires an offset: a time without one depends on the reader's zone. */
function timeOf(text: string): number {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const at = isTime ? Date.parse(text) : NaN;
  if (Number.isNaN(at)) throw unusable('"until" must be a time such as "2026-10-03T22:00:00Z"');
  return at;
}

function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || typeof value === 'string') return value;
  throw unusable(`"${name}" must be text`);
}

function unusable(why: string): Refusal {
  return new Refusal(400, `cannot use the body: ${why}`);
}

const LONGEST_NAME = 100;
/** Line breaks, control characters, and characters that change how others read, such as bidi overrides. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
/** Lifetime of an approval, in case the service is away and keeps runs from using it. */
const LASTS_MS = 3_600_000;

/** 409: no plan with that hash is held. */
function addApproveRoute(app: FastifyInstance, { daemon, access, log, now }: Surface): void {
  app.post('/approve', { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
    const fields = fieldsOf(request.body, ['source', 'hash', 'by', 'reason']);
    const asked = approvalOf(fields);
    const view = oneSourceOf(daemon, fields);
    const { name: source } = view;
    const { heldHash, why } = heldBy(view);
    if (heldHash !== asked.hash) {
      log.warn({ request: '/approve', source, ...asked, heldHash }, 'approval refused');
      const error = `cannot approve ${asked.hash}: ${why}`;
      return reply.code(409).send({ error, heldHash });
    }
    const until = new Date(now() + LASTS_MS).toISOString();
    const token = access.nameOf(request);
    daemon.override(source, { approval: { ...asked, token, until } });
    log.info({ request: '/approve', source, ...asked, token, until }, 'asked by request');
    return reply.code(202).send({ accepted: true, source, ...asked, until });
  });
}

function approvalOf(fields: Fields): Omit<Approval, 'until'> {
  const hash = textOf(fields, 'hash') ?? '';
  if (!/^sha256:[0-9a-f]{64}$/.test(hash)) throw unusable('"hash" must be the hash of a plan');
  const by = (textOf(fields, 'by') ?? '').trim();
  if (by === '' || by.length > LONGEST_NAME) throw unusable('"by" must say who approves it');
  // The name goes into the audit comment of each write, where further lines would look like ours.
  if (UNSEEN.test(by)) throw unusable('"by" must be one line, without control characters');
  return { hash, by, reason: reasonOf(fields) };
}

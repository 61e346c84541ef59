import type { FastifyInstance } from 'fastify';
import { FORCED_GUARDS } from '../../model/plan.js';
import { newestPlan } from '../health.js';
import type { SourceView } from '../view.js';
import {
  fieldsOf,
  LONGEST_REASON,
  MAX_BODY_BYTES,
  oneSourceOf,
  target,
  textOf,
  unusable,
  type ControlOptions,
} from './control-routes.js';

/** Longer than any name. */
const LONGEST_NAME = 100;
/** Line breaks, control characters, and characters that change how others read, such as bidi overrides. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
/** Lifetime of an approval, in case the service is away and keeps runs from using it. */
const LASTS_MS = 3_600_000;

/**
 * `POST /approve`: lets the plan with this hash, and no other, pass guards, windows and freezes. The caller has already
 * checked the token.
 *
 * 202: the next run uses the approval. 409: no plan with that hash is held; `heldHash` is the hash of the held plan, or
 * null.
 */
export function addApproveRoute(
  app: FastifyInstance,
  { view, controls, access, log, now }: ControlOptions,
): void {
  app.post('/approve', { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
    const { source: named, ...asked } = approveBody(request.body);
    const source = oneSourceOf(view, named);
    const { heldHash, why } = heldBy(view.sources().find(({ name }) => name === source));
    if (heldHash !== asked.hash) {
      log.warn({ request: '/approve', source, ...asked, heldHash }, 'approval refused');
      const error = `cannot approve ${asked.hash}: ${why}`;
      return reply.code(409).send({ error, heldHash });
    }
    const until = new Date(now() + LASTS_MS).toISOString();
    const token = access.nameOf(request);
    controls.approve(source, { ...asked, token, until });
    log.info({ request: '/approve', source, ...asked, token, until }, 'asked by request');
    return reply.code(202).send({ accepted: true, source, ...asked, until });
  });
}

interface Held {
  readonly heldHash: string | null;
  /** Explains to a client with another hash why there is nothing to approve. */
  readonly why: string;
}

/** The hash by which the newest plan can be approved. */
function heldBy(source: SourceView | undefined): Held {
  const plan = source && newestPlan(source);
  if (plan?.heldHash === undefined) {
    return { heldHash: null, why: 'no guard and no window holds anything back now' };
  }
  const forced = plan.guards?.find(({ guard }) => FORCED_GUARDS.has(guard));
  if (forced) {
    const why = `${forced.guard} lets nothing pass without reconcile --force --approve`;
    return { heldHash: null, why };
  }
  return { heldHash: plan.heldHash, why: `what is held back is ${plan.heldHash} now` };
}

/** @throws Refusal 400 for an invalid body, such as one that does not name the approver. */
function approveBody(body: unknown): {
  readonly source: ReturnType<typeof target>;
  readonly hash: string;
  readonly by: string;
  readonly reason: string;
} {
  const fields = fieldsOf(body, ['source', 'hash', 'by', 'reason']);
  const hash = textOf(fields, 'hash') ?? '';
  if (!/^sha256:[0-9a-f]{64}$/.test(hash)) throw unusable('"hash" must be the hash of a plan');
  const by = (textOf(fields, 'by') ?? '').trim();
  if (by === '' || by.length > LONGEST_NAME) throw unusable('"by" must say who approves it');
  // The name goes into the audit comment of each write, where further lines would look like ours.
  if (UNSEEN.test(by)) throw unusable('"by" must be one line, without control characters');
  const reason = (textOf(fields, 'reason') ?? 'no reason given').trim();
  if (reason.length > LONGEST_REASON)
    throw unusable('"reason" must be at most 500 characters long');
  return { source: target(fields), hash, by, reason };
}

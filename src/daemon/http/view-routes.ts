import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Source, Status } from '../../generated/status.schema.d.js';
import type { Frozen } from '../../model/json.js';
import { flagPage } from '../page/flag-page.js';
import { runPage } from '../page/runs.js';
import { LOOK } from '../page/phrases.js';
import { statusPage } from '../page/status-page.js';
import { missingFor, newestFull, healthOf, verdictOver } from '../health.js';
import type { StandingsView } from '../standings.js';
import type { DaemonView, RunRecord, SourceView } from '../view.js';
import { standingDocument } from '../../report/json/plan.js';
import { Refusal, type Surface } from './access.js';

export function addViewRoutes(
  app: FastifyInstance,
  { daemon: view, metrics, now }: Surface,
  takesRequests: boolean,
): void {
  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', async (_, reply) => {
    const sources = view.sources().map((source) => ({
      name: source.name,
      missing: missingFor(source),
    }));
    const isReady = sources.every(({ missing }) => missing.length === 0);
    return reply.code(isReady ? 200 : 503).send({ ready: isReady, sources });
  });
  app.get('/metrics', async (_, reply) =>
    reply.type(metrics.contentType).send(await metrics.text(view, now())),
  );
  app.get('/status', () => statusDocument(view, now()));
  app.get('/', async (_, reply) =>
    sendPage(reply, statusPage(view, { now: now(), takesRequests })),
  );
  app.get<{ Params: { id: string } }>('/runs/:id', async ({ params }, reply) => {
    const { source, run } = findRun(view, params.id);
    return sendPage(reply, runPage(source, run, now()));
  });
  app.get<{ Params: { source: string; flag: string } }>(
    '/flags/:source/:flag',
    async ({ params: { source: name, flag } }, reply) => {
      const source = view.sources().find((each) => each.name === name);
      const page = source === undefined ? null : flagPage(source, flag, now());
      if (page === null) throw new Refusal(404, 'cannot find that flag: no run has seen it');
      return sendPage(reply, page);
    },
  );
  app.get<{ Params: { id: string } }>('/runs/:id/plan', ({ params }) => {
    const { plan } = findRun(view, params.id).run;
    if (plan === null) throw new Refusal(404, 'cannot show the plan: the run ended before it');
    return plan;
  });
}

async function sendPage(reply: FastifyReply, page: string): Promise<FastifyReply> {
  return reply
    .header('content-security-policy', LOOK.policy)
    .type('text/html; charset=utf-8')
    .send(page);
}

function findRun(view: DaemonView, id: string): { source: SourceView; run: RunRecord } {
  for (const source of view.sources()) {
    const run = source.runs.find((each) => each.id === id);
    if (run !== undefined) return { source, run };
  }
  throw new Refusal(404, 'cannot find that run: the last 100 of each source are kept');
}

export type StatusDocument = Frozen<Status>;

function statusDocument(view: DaemonView, now: number): StatusDocument {
  const sources = view.sources().map(sourceDocument);
  return {
    formatVersion: 1,
    version: view.version,
    startedAt: view.startedAt,
    asOf: new Date(now).toISOString(),
    verdict: verdictOver(sources),
    sources,
  };
}

function standingsDocument({ lookedAt, doubt, whole, counts, objects }: StandingsView) {
  const documents = objects.map(({ id, standing, asOf }) => {
    return { ...standingDocument(id, standing), asOf };
  });
  return { lookedAt, doubt, whole, counts, objects: documents };
}

/** Leaves out report and plan of each run, which have addresses of their own. */
function sourceDocument(source: SourceView): Frozen<Source> {
  const { runs, flags, firstSync, standings, ...plain } = source;
  const { verdict, environments } = healthOf(source);
  const missing = missingFor(source);
  return {
    ...plain,
    verdict,
    ready: missing.length === 0,
    missing,
    environments: environments.map(({ lastChange, ...counts }) => ({
      ...counts,
      lastChange: lastChange?.id ?? null,
    })),
    standings: standings && standingsDocument(standings),
    unmanaged: newestFull(source)?.plan?.unmanaged ?? null,
    runs: runs.map(({ text, plan, open, ...run }) => ({
      ...run,
      planHash: plan?.planHash ?? null,
      heldHash: plan?.heldHash ?? null,
    })),
  };
}

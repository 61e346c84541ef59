import { newestPlan, standingOf, verdictOver, type Level } from '../standing.js';
import { missingFor } from '../readiness.js';
import type { DaemonView, RunRecord, SourceView } from '../view.js';

/** What `/status` answers; `schemas/status.schema.json` says the same with a description on every field. */
export interface StatusDocument {
  readonly formatVersion: 1;
  readonly version: string;
  readonly startedAt: string;
  readonly asOf: string;
  readonly verdict: VerdictDocument;
  readonly sources: readonly SourceDocument[];
}

interface VerdictDocument {
  readonly level: Level;
  readonly headline: string;
  readonly detail: string | null;
}

interface SourceDocument extends Omit<SourceView, 'runs' | 'environments' | 'firstSync'> {
  readonly verdict: VerdictDocument;
  readonly ready: boolean;
  readonly missing: readonly string[];
  readonly environments: readonly EnvironmentDocument[];
  readonly unmanaged: { readonly flags: number; readonly segments: number } | null;
  readonly runs: readonly RunDocument[];
}

interface EnvironmentDocument {
  readonly name: string | null;
  readonly failed: number;
  readonly waiting: number;
  readonly drift: number;
  readonly withheld: number;
  readonly lastChange: string | null;
}

/** Without report and plan, which stand under their own address. */
interface RunDocument extends Omit<RunRecord, 'text' | 'plan'> {
  readonly planHash: string | null;
}

export function statusDocument(view: DaemonView, now: number): StatusDocument {
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

function sourceDocument(source: SourceView): SourceDocument {
  const { runs, firstSync, ...plain } = source;
  const { verdict, environments } = standingOf(source);
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
    unmanaged: newestPlan(source)?.unmanaged ?? null,
    runs: runs.map(({ text, plan, ...run }) => ({ ...run, planHash: plan?.planHash ?? null })),
  };
}

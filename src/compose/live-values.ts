import type { ForgeOptions } from '../forge/forge.js';
import { openProposals } from '../forge/open.js';
import { syncProposal, withdrawProposal, type Proposal } from '../forge/proposal.js';
import { messageOf } from '../errors.js';
import { adoptDrift, type Adoption } from '../import/adopt.js';
import { driftOf, type Drift } from '../import/drift.js';
import type { Source } from '../git/spec-source.js';
import type { Log } from '../platform/log.js';
import { realTime } from '../platform/clock.js';
import { packageVersion } from '../platform/version.js';
import type { Planned } from '../reconcile/context.js';
import { clean } from '../report/sanitize.js';
import { plural } from '../report/values.js';
import type { StatusTarget } from '../daemon/statuses/target.js';

/** Where the live values of one source are proposed. */
export interface ProposalTarget extends StatusTarget {
  /** Name of the source. */
  readonly name: string;
  /** Into which they would be merged; null: the default branch. */
  readonly base: string | null;
  /** Read each time, so that a rotated one is picked up. */
  readonly token: () => string;
}

/** Nobody waits for a proposal but the next run of the source. */
const TRY_MS = 10_000;

/** Keeps one pull request of one source with what is live and git does not say, where `onDrift` is `propose`. */
export class LiveValues {
  readonly #target: ProposalTarget;
  readonly #log: Log;
  /** Whether a pull request may be open; true until a look says otherwise. */
  #mayBeOpen = true;

  constructor(target: ProposalTarget, log: Log) {
    this.#target = target;
    this.#log = log;
  }

  /** After a run that came to a plan. Nothing that goes wrong here reaches the run: it is said in the log. */
  async propose(planned: Planned, source: Source, signal: AbortSignal): Promise<void> {
    try {
      const proposal = await this.#proposalOf(planned, source);
      if (proposal === null) await this.#withdraw(planned, signal);
      else await this.#sync(proposal, signal);
    } catch (error) {
      this.#log.warn({ why: clean(messageOf(error)) }, 'live values could not be proposed');
    }
  }

  async #sync(proposal: Proposal, signal: AbortSignal): Promise<void> {
    const { done, url } = await syncProposal(await this.#forge(signal), proposal);
    this.#mayBeOpen = true;
    if (done !== 'unchanged') this.#log.info({ done, url }, 'live values proposed');
  }

  /** A run that looked at a part alone does not say that nothing differs. */
  async #withdraw({ plan }: Planned, signal: AbortSignal): Promise<void> {
    if (!this.#mayBeOpen || plan.observed !== 'full') return;
    const closed = await withdrawProposal(
      await this.#forge(signal),
      this.#branch,
      this.#target.base,
    );
    this.#mayBeOpen = false;
    if (closed !== null) this.#log.info({ url: closed.url }, 'proposal of live values withdrawn');
  }

  /** Null: there is nothing to propose, or nothing that files could say. */
  async #proposalOf(
    planned: Planned,
    { tree, checkout, revision }: Source,
  ): Promise<Proposal | null> {
    const { commit } = revision;
    const differences = proposedDrift(planned);
    if (commit === null || differences.length === 0) return null;
    const adoption = await adoptDrift(differences, planned.input, tree);
    if (adoption.files.size === 0) return null;
    const prefix = checkout.repository?.prefix ?? '';
    return {
      branch: this.#branch,
      ...{ base: this.#target.base, commit },
      files: new Map([...adoption.files].map(([path, text]) => [prefix + path, text])),
      title: `Take over ${plural(adoption.adopted.length, 'live value')} of ${clean(this.#target.name)}`,
      body: bodyOf(adoption, planned),
    };
  }

  get #branch(): string {
    return `flagkeel/live-values/${this.#target.name}`;
  }

  async #forge(signal: AbortSignal): ReturnType<typeof openProposals> {
    const { kind, apiUrl, repository, token } = this.#target;
    const options: Omit<ForgeOptions, 'place'> = {
      ...{ token: token(), version: packageVersion(), timeoutMs: TRY_MS, signal },
      wait: async (waitMs) => realTime.sleep(waitMs, signal),
      now: () => realTime.now(),
    };
    return openProposals({ ...options, place: { kind, apiUrl, repository } });
  }
}

/** What was changed outside git alone, where the config wants that proposed. */
function proposedDrift({ plan, input }: Planned): Drift['differences'] {
  const { environments } = input.policy;
  const proposing = environments.filter(({ onDrift }) => onDrift === 'propose');
  const names = new Set(proposing.map(({ name }) => name));
  return driftOf(plan, input.state, environments).differences.filter(
    ({ change: { ref, reason } }) =>
      reason === 'drift' &&
      (ref.environment === null ? names.size > 0 : names.has(ref.environment)),
  );
}

const MOST_LINES = 100;

function bodyOf({ adopted, left }: Adoption, { originName, at }: Planned): string {
  const lines = [
    ...adopted.map(({ id }) => `- ${code(id)}`),
    ...left.map(({ id, why }) => `- not in here: ${code(id)}, ${code(why)}`),
  ];
  const more = lines.length - MOST_LINES;
  return [
    `Changed on ${code(originName)}, workspace ${code(at.workspace.name)}, and not in git:`,
    '',
    ...lines.slice(0, MOST_LINES),
    ...(more > 0 ? [`- and ${String(more)} more`] : []),
    '',
    'A merge makes git say what is live, and changes nothing on the service. If it is not wanted, close this and run',
    '`flagkeel reconcile --revert-drift`. This pull request follows the service while it is open; its branch is written over.',
  ].join('\n');
}

/** As code, in which nothing is markup. */
function code(text: string): string {
  return `\`${clean(text).replaceAll('`', "'")}\``;
}

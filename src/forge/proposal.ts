import { createHash } from 'node:crypto';

/** Changes of files that somebody is asked to merge: one pull request, on a branch of our own. */
export interface Proposal {
  /** Without `refs/heads/`; ours alone, and written over. */
  readonly branch: string;
  /** Into which it would be merged; null: the default branch of the repository. */
  readonly base: string | null;
  /** Full name of the commit that the files are changed on; the forge has it. */
  readonly commit: string;
  /** Path from the top of the repository → whole new text; sorted by path. */
  readonly files: ReadonlyMap<string, string>;
  /** Of the commit and of the pull request; untrusted text on one line. */
  readonly title: string;
  /** Markdown. */
  readonly body: string;
}

/** What a forge has to do with proposals. Every method may be called again. @throws FlagkeelError `FORGE` */
export interface ProposalForge {
  /** The open pull request of a branch; null: there is none. */
  findOpen(branch: string, base: string | null): Promise<OpenProposal | null>;
  /** Puts one commit with these files on the branch, in place of what was there. */
  push(proposal: Proposal): Promise<void>;
  /** @returns its address, for people. */
  create(proposal: Proposal): Promise<string>;
  update(number: number, proposal: Proposal): Promise<void>;
  close(number: number): Promise<void>;
}

export interface OpenProposal {
  readonly number: number;
  /** For people. */
  readonly url: string;
  readonly body: string;
}

export interface ProposalResult {
  readonly done: 'opened' | 'updated' | 'unchanged';
  readonly url: string;
}

/**
 * Opens the pull request, or makes the one that is open say this. One whose files would be the same is left alone, so
 * that what people have said or pushed there is not disturbed.
 */
export async function syncProposal(
  forge: ProposalForge,
  proposal: Proposal,
): Promise<ProposalResult> {
  const open = await forge.findOpen(proposal.branch, proposal.base);
  const marker = markerOf(proposal);
  if (open?.body.includes(marker) === true) return { done: 'unchanged', url: open.url };
  const marked = { ...proposal, body: `${marker}\n\n${proposal.body}` };
  await forge.push(marked);
  if (open === null) return { done: 'opened', url: await forge.create(marked) };
  await forge.update(open.number, marked);
  return { done: 'updated', url: open.url };
}

/** Closes the pull request of a branch, if one is open: what it proposed is not live any more. */
export async function withdrawProposal(
  forge: ProposalForge,
  branch: string,
  base: string | null,
): Promise<OpenProposal | null> {
  const open = await forge.findOpen(branch, base);
  if (open !== null) await forge.close(open.number);
  return open;
}

function markerOf({ files }: Proposal): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([...files]))
    .digest('hex');
  return `<!-- flagkeel:live-values ${digest.slice(0, 32)} -->`;
}

import { createHash } from 'node:crypto';
import type { Forge } from './forge.js';

export interface ReviewComment {
  /** Of several reviews on one pull request each has its own comment: the config directory. */
  readonly scope: string;
  /** Null: there is no plan. */
  readonly planHash: string | null;
  /** The verdict and the risks: what must not stand there outdated, though the plan hash does not cover it. */
  readonly gist: string;
  readonly body: string;
}

/** Posts the one comment of a review, or edits it. One that says the same of the same plan is left alone. */
export async function syncComment(
  forge: Forge,
  comment: ReviewComment,
): Promise<'posted' | 'edited' | 'unchanged'> {
  const marker = `<!-- flaghoist:review ${digest(comment.scope)} -->`;
  const content = `<!-- flaghoist:plan ${comment.planHash ?? 'none'} ${digest(comment.gist)} -->`;
  const body = `${marker}\n${content}\n\n${comment.body}`;
  const found = await forge.findComment(marker);
  if (!found) {
    await forge.postComment(body);
    return 'posted';
  }
  if (found.body.includes(content)) return 'unchanged';
  await forge.updateComment(found.id, body);
  return 'edited';
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

import { createHmac } from 'node:crypto';

/** Tells a daemon of a push to `main`, as GitHub does. @returns the status of the answer. */
export async function sendPushWebhook(
  daemonUrl: string,
  secret: string,
  { commit, cloneUrl }: { readonly commit: string; readonly cloneUrl: string },
): Promise<number> {
  const repository = { clone_url: cloneUrl, ssh_url: cloneUrl };
  const body = JSON.stringify({ ref: 'refs/heads/main', after: commit, repository });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': commit,
    'x-hub-signature-256': `sha256=${signature}`,
  };
  return (await fetch(`${daemonUrl}/webhook`, { method: 'POST', headers, body })).status;
}

import type { RepositoryTarget, ForgeOptions } from './forge.js';
import { gitlabClient, gitlabRefusal } from './gitlab.js';
import type { ProposalForge } from './proposal.js';
import { withRetry } from './retry.js';

/** Merge requests on GitLab. */
export function openGitlabProposals(options: ForgeOptions<RepositoryTarget>): ProposalForge {
  const gitlab = gitlabClient(options);
  const project = options.place.repository;
  const { wait } = options;
  const ask = async <T>(send: () => Promise<T>, repeatable = true): Promise<T> =>
    withRetry(send, gitlabRefusal, { wait, repeatable });
  const baseOf = async (base: string | null): Promise<string> =>
    base ?? (await ask(async () => gitlab.Projects.show(project))).default_branch;
  return {
    findOpen: async (sourceBranch, base) => {
      const targetBranch = await baseOf(base);
      const query = { projectId: project, state: 'opened', sourceBranch, targetBranch } as const;
      const [open] = await ask(async () => gitlab.MergeRequests.all(query));
      return open === undefined
        ? null
        : { number: open.iid, url: open.web_url, body: open.description ?? '' };
    },
    push: async ({ branch, commit, files, title }) => {
      const actions = [...files].map(([filePath, content]) => {
        return { action: 'update' as const, filePath, content };
      });
      const from = { startSha: commit, force: true };
      await ask(async () => gitlab.Commits.create(project, branch, title, actions, from));
    },
    create: async ({ branch, base, title, body }) => {
      const target = await baseOf(base);
      const text = { description: body, removeSourceBranch: true };
      const made = await ask(
        async () => gitlab.MergeRequests.create(project, branch, target, title, text),
        false,
      );
      return made.web_url;
    },
    update: async (number, { title, body }) => {
      await ask(async () =>
        gitlab.MergeRequests.edit(project, number, { title, description: body }),
      );
    },
    close: async (number) => {
      await ask(async () => gitlab.MergeRequests.edit(project, number, { stateEvent: 'close' }));
    },
  };
}

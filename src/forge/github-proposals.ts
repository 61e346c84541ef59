import type { RepositoryTarget, ForgeOptions } from './forge.js';
import { githubClient, repositoryOf } from './github.js';
import type { Proposal, ProposalForge } from './proposal.js';

/** A mode of git: a plain file. */
const FILE = '100644';

/** Pull requests on GitHub, or on a server of the same make. */
export function openGithubProposals(options: ForgeOptions<RepositoryTarget>): ProposalForge {
  const octokit = githubClient(options);
  const at = repositoryOf(options.place);
  const { rest } = octokit;
  const baseOf = async (base: string | null): Promise<string> =>
    base ?? (await rest.repos.get(at)).data.default_branch;
  return {
    findOpen: async (branch, base) => {
      const head = `${at.owner}:${branch}`;
      const { data } = await rest.pulls.list({
        ...{ ...at, head, state: 'open' },
        base: await baseOf(base),
      });
      const [open] = data;
      return open === undefined
        ? null
        : { number: open.number, url: open.html_url, body: open.body ?? '' };
    },
    push: async (proposal) => {
      const sha = await commitOf(proposal);
      const ref = `heads/${proposal.branch}`;
      const { data } = await rest.git.listMatchingRefs({ ...at, ref });
      const isThere = data.some((each) => each.ref === `refs/${ref}`);
      if (isThere) await rest.git.updateRef({ ...at, ref, sha, force: true });
      else await rest.git.createRef({ ...at, ref: `refs/${ref}`, sha });
    },
    create: async ({ branch, base, title, body }) => {
      const request = { ...at, title, body, head: branch, base: await baseOf(base) };
      return (await rest.pulls.create(request)).data.html_url;
    },
    update: async (number, { title, body }) => {
      await rest.pulls.update({ ...at, pull_number: number, title, body });
    },
    close: async (number) => {
      await rest.pulls.update({ ...at, pull_number: number, state: 'closed' });
    },
  };

  async function commitOf({ commit, files, title }: Proposal): Promise<string> {
    const base = await rest.git.getCommit({ ...at, commit_sha: commit });
    const { data: tree } = await rest.git.createTree({
      ...at,
      base_tree: base.data.tree.sha,
      tree: [...files].map(([path, content]) => ({ path, content, mode: FILE, type: 'blob' })),
    });
    const made = { ...at, message: title, tree: tree.sha, parents: [commit] };
    return (await rest.git.createCommit(made)).data.sha;
  }
}

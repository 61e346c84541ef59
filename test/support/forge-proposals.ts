import type { Answer, Asked, Route } from './forge.js';

export interface TestPull {
  readonly number: number;
  readonly branch: string;
  readonly base: string;
  title: string;
  body: string;
  isOpen: boolean;
}

/** Branches and pull requests of a stand-in for a forge, as far as proposals need them. */
export class TestProposals {
  readonly pulls: TestPull[] = [];
  /** Branch → commit that it was made on, and files of the one commit that was put on it. */
  readonly branches = new Map<
    string,
    { on: string; message: string; files: Map<string, string> }
  >();
  readonly #trees: { on: string; files: Map<string, string> }[] = [];
  readonly #commits: { on: string; message: string; files: Map<string, string> }[] = [];

  routes(kind: 'github' | 'gitlab'): [string, RegExp, Route][] {
    return kind === 'github' ? this.#github() : this.#gitlab();
  }

  #github(): [string, RegExp, Route][] {
    const repo = '/repos/acme/flags';
    const show = ({ number, title, body }: TestPull): object => {
      return { number, title, body, html_url: `https://github.example/acme/flags/pull/${number}` };
    };
    return [
      ['GET', new RegExp(`^${repo}$`), () => ok({ default_branch: 'main' })],
      [
        'GET',
        new RegExp(`^${repo}/pulls$`),
        ({ query }) => this.#list(query.get('head')?.replace('acme:', ''), query.get('base'), show),
      ],
      [
        'POST',
        new RegExp(`^${repo}/pulls$`),
        ({ body }) =>
          this.#open(
            text(body, 'head'),
            text(body, 'base'),
            text(body, 'title'),
            text(body, 'body'),
            show,
          ),
      ],
      [
        'PATCH',
        new RegExp(`^${repo}/pulls/(\\d+)$`),
        ({ body }, [, number]) =>
          this.#edit(
            Number(number),
            text(body, 'title'),
            text(body, 'body'),
            body['state'] === 'closed',
          ),
      ],
      [
        'GET',
        new RegExp(`^${repo}/git/commits/([0-9a-f]{40})$`),
        (_, [, sha]) => ok({ sha, tree: { sha: `tree-of-${String(sha)}` } }),
      ],
      [
        'POST',
        new RegExp(`^${repo}/git/trees$`),
        ({ body }) => {
          const files = body['tree'] as { path: string; content: string; mode: string }[];
          this.#trees.push({
            on: text(body, 'base_tree').replace('tree-of-', ''),
            files: new Map(files.map(({ path, content }) => [path, content])),
          });
          return made({ sha: `tree-${this.#trees.length - 1}` });
        },
      ],
      [
        'POST',
        new RegExp(`^${repo}/git/commits$`),
        ({ body }) => {
          const tree = this.#trees[Number(text(body, 'tree').replace('tree-', ''))];
          const [on] = body['parents'] as string[];
          if (!tree || tree.on !== on) return refused(422, 'Tree SHA does not exist');
          this.#commits.push({ ...tree, message: text(body, 'message') });
          return made({ sha: `commit-${this.#commits.length - 1}` });
        },
      ],
      [
        'GET',
        new RegExp(`^${repo}/git/matching-refs/heads(?:/|%2F)(.+)$`),
        (_, [, branch = '']) =>
          ok(
            [...this.branches.keys()]
              .filter((each) => each.startsWith(decodeURIComponent(branch)))
              .map((each) => ({ ref: `refs/heads/${each}` })),
          ),
      ],
      [
        'POST',
        new RegExp(`^${repo}/git/refs$`),
        ({ body }) =>
          this.#point(text(body, 'ref').replace('refs/heads/', ''), text(body, 'sha'), false),
      ],
      [
        'PATCH',
        new RegExp(`^${repo}/git/refs/heads(?:/|%2F)(.+)$`),
        ({ body }, [, branch = '']) =>
          this.#point(decodeURIComponent(branch), text(body, 'sha'), true),
      ],
    ];
  }

  #gitlab(): [string, RegExp, Route][] {
    const project = '/api/v4/projects/acme%2Fflags';
    const show = ({ number, title, body }: TestPull): object => {
      return {
        iid: number,
        title,
        description: body,
        web_url: `https://gitlab.example/acme/flags/-/merge_requests/${number}`,
      };
    };
    return [
      ['GET', new RegExp(`^${project}$`), () => ok({ default_branch: 'main' })],
      [
        'GET',
        new RegExp(`^${project}/merge_requests$`),
        ({ query }) =>
          query.get('state') === 'opened'
            ? this.#list(query.get('source_branch'), query.get('target_branch'), show)
            : refused(400, 'state'),
      ],
      [
        'POST',
        new RegExp(`^${project}/merge_requests$`),
        ({ body }) =>
          this.#open(
            text(body, 'source_branch'),
            text(body, 'target_branch'),
            text(body, 'title'),
            text(body, 'description'),
            show,
          ),
      ],
      [
        'PUT',
        new RegExp(`^${project}/merge_requests/(\\d+)$`),
        ({ body }, [, number]) =>
          this.#edit(
            Number(number),
            text(body, 'title'),
            text(body, 'description'),
            body['state_event'] === 'close',
          ),
      ],
      [
        'POST',
        new RegExp(`^${project}/repository/commits$`),
        ({ body }) => {
          const actions = body['actions'] as {
            action: string;
            file_path: string;
            content: string;
          }[];
          const branch = text(body, 'branch');
          if (this.branches.has(branch) && body['force'] !== true)
            return refused(400, 'A branch called that already exists');
          const files = new Map(actions.map((each) => [each.file_path, each.content]));
          this.branches.set(branch, {
            on: text(body, 'start_sha'),
            message: text(body, 'commit_message'),
            files,
          });
          return made({ id: 'x' });
        },
      ],
    ];
  }

  #point(branch: string, sha: string, isThere: boolean): Answer {
    const commit = this.#commits[Number(sha.replace('commit-', ''))];
    if (!commit || this.branches.has(branch) !== isThere) return refused(422, 'Reference problem');
    this.branches.set(branch, commit);
    return made({ ref: `refs/heads/${branch}` });
  }

  #list(
    branch: string | null | undefined,
    base: string | null,
    show: (pull: TestPull) => object,
  ): Answer {
    return ok(
      this.pulls
        .filter((each) => each.isOpen && each.branch === branch && each.base === base)
        .map(show),
    );
  }

  #open(
    branch: string,
    base: string,
    title: string,
    body: string,
    show: (pull: TestPull) => object,
  ): Answer {
    if (!this.branches.has(branch)) return refused(422, 'head is invalid');
    if (this.pulls.some((each) => each.isOpen && each.branch === branch))
      return refused(422, 'A pull request already exists');
    const pull = { number: this.pulls.length + 1, branch, base, title, body, isOpen: true };
    this.pulls.push(pull);
    return made(show(pull));
  }

  #edit(number: number, title: string, body: string, isClosed: boolean): Answer {
    const pull = this.pulls[number - 1];
    if (!pull) return refused(404, 'Not Found');
    if (title !== '') Object.assign(pull, { title, body });
    if (isClosed) pull.isOpen = false;
    return ok({});
  }
}

function text(body: Asked['body'], name: string): string {
  const value = body[name];
  return typeof value === 'string' ? value : '';
}

function ok(body: unknown): Answer {
  return { status: 200, body };
}

function made(body: unknown): Answer {
  return { status: 201, body };
}

function refused(status: number, message: string): Answer {
  return { status, body: { message } };
}

/** Each address is null if the arguments name no page. */
export interface ForgePages {
  readonly commit: (commit: string) => string | null;
  /** @param file relative to the config directory; may be any text. */
  readonly file: (commit: string, file: string, line: number | null) => string | null;
  /** @param subject of a commit made by a merge or squash. */
  readonly pullRequest: (subject: string) => string | null;
}

/** By the first word of its host. */
interface Forge {
  readonly commit: string;
  readonly file: string;
  readonly pullRequest: string;
  /** Matches the subject of a merge commit; the group is the number. */
  readonly merged: RegExp;
}

const FORGES: Readonly<Record<string, Forge>> = {
  github: {
    commit: '/commit/',
    file: '/blob/',
    pullRequest: '/pull/',
    merged: /\(#(\d{1,9})\)$|^Merge pull request #(\d{1,9}) /,
  },
  gitlab: {
    commit: '/-/commit/',
    file: '/-/blob/',
    pullRequest: '/-/merge_requests/',
    // GitLab's merge commits name the request only in the body, which is not available here.
    merged: /\(!(\d{1,9})\)$/,
  },
};

const COMMIT = /^[0-9a-f]{40,64}$/;

/**
 * @param location of a source: `https://…`, followed by the config directory in brackets unless that is the root.
 * @returns null unless the host is a known forge.
 */
export function forgePages(location: string): ForgePages | null {
  const [, url = '', folder = ''] = /^(https:\/\/\S+)(?: \((.*)\))?$/.exec(location) ?? [];
  if (!URL.canParse(url)) return null;
  const { origin, host, pathname } = new URL(url);
  const forge = FORGES[host.split('.')[0] ?? ''];
  if (forge === undefined) return null;
  const repository = origin + pathname.replace(/(?:\.git)?\/?$/, '');
  return {
    commit: (commit) => (COMMIT.test(commit) ? repository + forge.commit + commit : null),
    file: (commit, file, line) => {
      if (!COMMIT.test(commit)) return null;
      const path = [...folder.split('/'), ...file.split('/')].filter((part) => part !== '');
      const at = line === null ? '' : `#L${String(line)}`;
      return [repository, forge.file, commit, '/', path.map(encodeURIComponent).join('/'), at].join(
        '',
      );
    },
    pullRequest: (subject) => {
      const [, squashed, merged] = forge.merged.exec(subject) ?? [];
      const number = squashed ?? merged;
      return number === undefined ? null : repository + forge.pullRequest + number;
    },
  };
}

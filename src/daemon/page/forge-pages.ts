/** Where the forge shows what a source is made of. Each is null where the words given name no such page. */
export interface ForgePages {
  readonly commit: (commit: string) => string | null;
  /** @param file relative to the config directory; may be anything. */
  readonly file: (commit: string, file: string, line: number | null) => string | null;
  /** @param subject of a commit that a merge or a squash made. */
  readonly pullRequest: (subject: string) => string | null;
}

/** How a forge names its pages, by the first word of its host. */
interface Forge {
  readonly commit: string;
  readonly file: string;
  readonly pullRequest: string;
  /** What a merge of its writes into the subject; the group is the number. */
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
    // Its merges name the request in their body alone: what is shown here are subjects.
    merged: /\(!(\d{1,9})\)$/,
  },
};

const COMMIT = /^[0-9a-f]{40,64}$/;

/**
 * Null where the source is no repository of a forge that is known by its host.
 *
 * @param location of a source: `https://…`, with the config directory in brackets behind it where that is not the root.
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

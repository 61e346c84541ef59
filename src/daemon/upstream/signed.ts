import { signedLine, type Signers } from '../../git/signatures.js';
import type { Seen, Upstream } from './upstream.js';

/** A daemon looks this far back for a signed commit, so that one push of many unsigned ones stops nothing. */
const MOST_LOOKED_AT = 200;

/**
 * The upstream as its signers vouch for it: while its newest commit is unsigned, the newest signed one before it is
 * what the daemon enforces. Without any, the newest commit stands, and its run is refused.
 */
export function signedUpstream(upstream: Upstream, signers: Signers): Upstream {
  const { kind, location, branch, directory, pushState } = upstream;
  const vouched = async (seen: Seen): Promise<Seen> => {
    if (seen.commit === null) return seen;
    await using source = await upstream.open(seen.commit.commit);
    const head = seen.commit.commit;
    const { signed, unsigned } = await signedLine(source.checkout, head, signers, MOST_LOOKED_AT);
    if (unsigned === null) return seen;
    const commit = signed === null ? seen.commit : await upstream.describe(signed);
    return { ...seen, commit, unsigned };
  };
  let last: { readonly of: Seen; readonly seen: Seen } | null = null;
  return {
    ...{ kind, location, branch, directory, ...(pushState !== undefined && { pushState }) },
    poll: async (signal) => {
      const of = await upstream.poll(signal);
      // An unsigned commit is checked at each poll, because the operator may have named another signer meanwhile.
      const isKnown = last?.of === of && last.seen.unsigned === undefined;
      if (!isKnown || last === null) last = { of, seen: await vouched(of) };
      return last.seen;
    },
    open: async (commit, memory) => upstream.open(commit, memory),
    describe: async (commit) => upstream.describe(commit),
    addsKill: async (before, after) => upstream.addsKill(before, after),
    follow: (hint) => upstream.follow(hint),
  };
}

import module from 'node:module';
import { isAbsolute, join } from 'node:path';

/** What Node has from version 22 on. */
interface CodeCache {
  /** Never throws; where the folder cannot be written, nothing is kept. */
  readonly enableCompileCache?: (directory: string) => unknown;
}

/**
 * Has Node keep the code that it compiles from here on, for the next start of the program. Node checks what it finds there against the source. Without a
 * folder of the user's own nothing is kept: in the shared temporary one, where Node would have it, somebody else could lay code. May be repeated.
 */
export function keepCompiledCode(environment: Readonly<Record<string, string | undefined>>): void {
  const folder = cacheFolder(environment);
  if (folder !== undefined) (module as CodeCache).enableCompileCache?.(join(folder, 'flagkeel'));
}

/** By the XDG base directory specification, which has relative paths ignored. */
function cacheFolder({
  XDG_CACHE_HOME: cache = '',
  HOME: home = '',
}: Readonly<Record<string, string | undefined>>): string | undefined {
  if (isAbsolute(cache)) return cache;
  return isAbsolute(home) ? join(home, '.cache') : undefined;
}

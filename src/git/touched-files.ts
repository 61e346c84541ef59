import type { ObjectRef } from '../model/object-id.js';
import type { Reason } from '../model/plan.js';

/**
 * Whether a change of this file could be a change of this object. Generous: the forms are compared afterwards.
 *
 * @param path relative to the config directory.
 */
export function mayShape(path: string, ref: ObjectRef): boolean {
  if (path === 'flaghoist.yaml' || isOwnFile(path, ref)) return true;
  switch (ref.kind) {
    case 'flag':
      // The file may be named after the id of an environment that the service names otherwise.
      return (
        isUnder(path, 'kills') ||
        (isUnder(path, 'flags') && basename(path).startsWith(`${ref.name}@`))
      );
    case 'segment':
      return path.endsWith('.keys');
    case 'identities':
      return isUnder(path, 'identities');
  }
}

/** Whether the file is the object's own by its name: what is left to go by where forms cannot be compared. */
export function isOwnFile(path: string, ref: ObjectRef, reason?: Reason): boolean {
  const name = basename(path);
  switch (ref.kind) {
    case 'flag':
      if (reason === 'kill' || reason === 'restore') {
        if (path === `kills/${ref.environment ?? ''}.yaml`) return true;
      }
      if (!isUnder(path, 'flags')) return false;
      return name === `${ref.name}.yaml` || name === `${ref.name}@${ref.environment ?? ''}.yaml`;
    case 'segment':
      if (!isUnder(path, 'segments')) return false;
      return (
        name === `${ref.name}.yaml` || (name.startsWith(`${ref.name}.`) && name.endsWith('.keys'))
      );
    case 'identities':
      return isUnder(path, 'identities');
  }
}

function isUnder(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

function basename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

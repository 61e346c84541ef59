/** Whether a path below the config directory leads into one of its folders, at any depth. */
export function isUnder(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

/** The last part of a path. */
export function basename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

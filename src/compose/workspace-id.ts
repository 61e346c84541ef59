import { createHash } from 'node:crypto';

/** Keeps apart what else somebody may derive from the same name. */
const NAMESPACE = 'flaghoist embedded workspace';

/**
 * The id of a workspace in every embedded store: a UUID in lower case that follows from the name alone, made as
 * RFC 9562 makes one from a name (version 5), with SHA-256 in the place of SHA-1 (version 8).
 */
export function workspaceIdFor(name: string): string {
  const bytes = createHash('sha256').update(`${NAMESPACE}\n${name}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

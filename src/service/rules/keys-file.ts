import { badRequest } from '../problem.js';

/** What a form with a file of keys says, in the members of the JSON body that says the same. */
export interface KeysForm {
  readonly keys: readonly string[];
  readonly title?: unknown;
  readonly comment?: unknown;
}

interface Part {
  readonly name: string;
  readonly text: string;
}

/**
 * Reads a `multipart/form-data` body with the part `file`, CSV of one column without a head, and where there is one the
 * part `payload`, a JSON object with title and comment. Clients are known to send such a body under another type, so
 * its first line is what tells it, and its boundary.
 *
 * @returns undefined: the body is no form.
 * @throws Problem (400) it is one, and there is no file in it, or the file has more columns than one.
 */
export function keysFormFrom(body: string): KeysForm | undefined {
  const boundary = /^--\S[^\r\n]*(?=\r?\n)/.exec(body)?.[0];
  if (boundary === undefined) return undefined;
  const parts = partsOf(body, boundary);
  const file = parts.find(({ name }) => name === 'file');
  if (file === undefined) throw badRequest('The form has no part "file"');
  const { title, comment } = payloadOf(parts.find(({ name }) => name === 'payload')?.text);
  return { keys: keysOf(file.text), title, comment };
}

function partsOf(body: string, boundary: string): Part[] {
  return body.split(boundary).flatMap((piece) => {
    const [, head = '', text = ''] =
      /^\r?\n([\s\S]*?)\r?\n\r?\n([\s\S]*?)\r?\n?$/.exec(piece) ?? [];
    const name = /^content-disposition:.*[;\s]name="?([^";\r\n]*)/im.exec(head)?.[1];
    return name === undefined ? [] : [{ name, text }];
  });
}

function payloadOf(text: string | undefined): { title?: unknown; comment?: unknown } {
  if (text === undefined) return {};
  try {
    const payload: unknown = JSON.parse(text);
    if (typeof payload === 'object' && payload !== null) return payload;
  } catch {
    // Answered below, like all else that is no object.
  }
  throw badRequest('The part "payload" is no JSON object');
}

function keysOf(text: string): string[] {
  // What is left of bytes that are no UTF-8.
  if (text.includes('\u{FFFD}')) throw badRequest('The file is not UTF-8');
  return text
    .replace(/^\u{FEFF}/u, '')
    .split(/\r\n|\n|\r/)
    .map((line, index) => keyOf(line, index + 1))
    .filter((key) => key !== '');
}

const QUOTED = /^"((?:[^"]|"")*)"$/;

function keyOf(line: string, number: number): string {
  const text = line.trim();
  const quoted = QUOTED.exec(text)?.[1];
  if (quoted !== undefined) return quoted.replaceAll('""', '"');
  if (!/[",]/.test(text)) return text;
  throw badRequest(
    `Line ${number} of the file is not one column: a key with , or " stands in quotes`,
  );
}

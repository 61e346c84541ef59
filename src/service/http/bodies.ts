import { isUtf8 } from 'node:buffer';
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MAX_JSON_DEPTH } from '../rules/json.js';
import { badRequest, type Problem } from './problem.js';

/**
 * Recognises bodies by their content and not by their content type: clients send JSON under any type, and no body at
 * all under `application/json`.
 */
export function takeAnyBody(app: FastifyInstance): void {
  const parser = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      // Decoding would put the same character in the place of different bytes.
      if (!isUtf8(body)) throw badRequest('Body is not UTF-8, or compressed');
      const text = body.toString();
      return bodyFrom(request, text, async () => {
        return new Promise((resolve, reject) => {
          void parser(request, text, (error, value) => {
            if (error === null) resolve(value);
            else reject(error);
          });
        });
      });
    },
  );
}

/** Other requests get their turn between the scan, the parsing and the work on the body. */
async function bodyFrom(
  request: FastifyRequest,
  text: string,
  parseJson: () => Promise<unknown>,
): Promise<unknown> {
  if (!/\S/.test(text)) return undefined;
  const problem = await problemOfText(text);
  if (problem !== undefined) throw problem;
  const takesText = request.routeOptions.config.takesText === true;
  const value = await parseJson().catch((error: unknown) => {
    if (takesText) return text;
    const takesFile = request.routeOptions.config.takesFile === true;
    const form = takesFile ? keysFormFrom(text) : undefined;
    if (form !== undefined) return form;
    throw badRequest(problemOfSyntax(text), error);
  });
  if (text.length > SLICE) await letOthersRun();
  return takesText && isBareWord(value) ? text : value;
}

/** The parser gives no reason when it refuses members that could be taken for a prototype. */
function problemOfSyntax(text: string): string {
  return /"(?:__proto__|constructor)"\s*:/.test(text)
    ? 'Body is no JSON text, or has a member __proto__ or constructor'
    : 'Body is no JSON text';
}

/** Characters to scan before other requests get their turn. */
const SLICE = 256 * 1024;

/** More than ten thousand identities of twenty attributes need. */
const MAX_VALUES = 500_000;

/**
 * Why the service refuses a text before parsing it: depth of nesting, number of values, and what cannot be stored: null
 * characters and halves of surrogate pairs. Does not check that the text is JSON.
 */
export async function problemOfText(text: string): Promise<Problem | undefined> {
  if (text.includes('\0')) return unstorable();
  // Without a backslash, every second quotation mark ends a string.
  const isPlain = !text.includes('\\');
  let depth = 0;
  let values = 0;
  let isInText = false;
  let pauseAt = SLICE;
  for (let index = 0; index < text.length; index += 1) {
    if (index >= pauseAt) {
      pauseAt += SLICE;
      await letOthersRun();
    }
    const character = text.charCodeAt(index);
    if (character === BACKSLASH) {
      index += 1;
      if (isAt(index, UNSTORABLE, text)) return unstorable();
      if (isAt(index, PAIR, text)) index += 'ud83d\\ude00'.length - 1;
    } else if (character === QUOTE) {
      if (!isPlain) isInText = !isInText;
      else {
        const end = text.indexOf('"', index + 1);
        index = end === -1 ? text.length : end;
      }
    } else if (!isInText) {
      const opens = character === OPEN_LIST || character === OPEN_OBJECT;
      if (opens) depth += 1;
      else if (character === CLOSE_LIST || character === CLOSE_OBJECT) depth -= 1;
      if (opens || character === COMMA || character === COLON) values += 1;
      if (depth > MAX_JSON_DEPTH) {
        return badRequest(`Body is nested more than ${MAX_JSON_DEPTH} levels deep`);
      }
      if (values > MAX_VALUES) return badRequest('Body holds too many values');
    }
  }
  return undefined;
}

function unstorable(): Problem {
  return badRequest('Body must not hold a null character, or half of a surrogate pair');
}

/** Escapes, behind their backslash. */
const UNSTORABLE = /u(?:0000|d[89ab]..(?!\\ud[c-f])|d[c-f])/iy;
const PAIR = /ud[89ab]..\\ud[c-f]../iy;

function isAt(index: number, pattern: RegExp, text: string): boolean {
  pattern.lastIndex = index;
  return pattern.test(text);
}

/** A plain text may look like one of these JSON values: a description may be `true`, `12.0` or `null`. */
function isBareWord(value: unknown): boolean {
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * The members of the JSON body that a `multipart/form-data` body stands for: with the part `file`, CSV of one column
 * without a head, and optionally the part `payload`, a JSON object with title and comment. Clients are known to send
 * such a body under another content type, so the body's first line identifies it and gives the boundary.
 */
function keysFormFrom(body: string): object | undefined {
  const boundary = /^--\S[^\r\n]*(?=\r?\n)/.exec(body)?.[0];
  if (boundary === undefined) return undefined;
  const parts = partsOf(body, boundary);
  const file = parts.get('file');
  if (file === undefined) throw badRequest('The form has no part "file"');
  const { title, comment } = payloadOf(parts.get('payload') ?? '{}');
  return { keys: keysOf(file), title, comment };
}

/** By name; the first of a name counts, and parts without a name are ignored. */
function partsOf(body: string, boundary: string): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  for (const piece of body.split(boundary)) {
    const part = piece.replace(/^\r?\n/, '');
    const blank = /\r?\n\r?\n/.exec(part);
    if (blank === null) continue;
    const head = part.slice(0, blank.index);
    const text = part.slice(blank.index + blank[0].length).replace(/\r?\n$/, '');
    const name = /^content-disposition:.*[;\s]name="?([^";\r\n]*)/im.exec(head)?.[1];
    if (name !== undefined && !parts.has(name)) parts.set(name, text);
  }
  return parts;
}

function payloadOf(text: string): { title?: unknown; comment?: unknown } {
  try {
    const payload: unknown = JSON.parse(text);
    if (typeof payload === 'object' && payload !== null) return payload;
  } catch {
    // Refused below, like any other text that is no object.
  }
  throw badRequest('The part "payload" is no JSON object');
}

/** One on each line; blank lines are ignored. */
function keysOf(text: string): string[] {
  const lines = text.replace(/^\u{FEFF}/u, '').split(/\r\n|\n|\r/, MAX_LINES + 1);
  if (lines.length > MAX_LINES) throw badRequest(`The file has more than ${MAX_LINES} lines`);
  return lines.map((line, index) => keyOf(line, index + 1)).filter((key) => key !== '');
}

/** Far more lines than one upload may have keys, to allow for blank lines. */
const MAX_LINES = 100_000;

/** A file of keys that can be read, as a pattern: lines of one column each, which may stand in quotes. */
export const KEYS_FILE =
  '^(?:(?:[^",\\r\\n\\u0000]*|[ \\t]*"(?:[^"\\r\\n\\u0000]|"")*"[ \\t]*)(?:\\r\\n|\\n|\\r|$))*$';

/** A quoted field of CSV, in which a quotation mark is doubled. */
const QUOTED = /^"((?:[^"]|"")*)"$/;

function keyOf(line: string, number: number): string {
  const text = line.trim();
  const quoted = QUOTED.exec(text)?.[1];
  if (quoted !== undefined) return quoted.replaceAll('""', '"');
  if (!/[",]/.test(text)) return text;
  const why = 'is not one column: a key with , or " stands in quotes';
  throw badRequest(`Line ${number} of the file ${why}`);
}

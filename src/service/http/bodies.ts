import type { FastifyInstance, FastifyRequest } from 'fastify';
import { badRequest, Problem } from './problem.js';

/**
 * Takes bodies by what stands in them and not by their content type: clients send JSON under any
 * type, and no body at all under `application/json`.
 */
export function takeAnyBody(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (request, body: string, done) => {
    if (body.trim() === '') {
      done(null, undefined);
      return;
    }
    const problem = problemOfText(body);
    if (problem !== undefined) {
      done(problem);
      return;
    }
    void parseJson(request, body, (error, value) => {
      const takesText = request.routeOptions.config.takesText === true;
      const isJson = error === null && !(takesText && isBareWord(value));
      if (isJson) done(null, value);
      else if (takesText) done(null, body);
      else done(...formOrRefusal(request, body));
    });
  });
}

/**
 * What a body that is no JSON comes to: a form with a file of keys where the endpoint takes one,
 * otherwise a 400.
 */
function formOrRefusal(request: FastifyRequest, body: string): [Problem | null, KeysForm?] {
  try {
    const { takesFile } = request.routeOptions.config;
    const form = takesFile === true ? keysFormFrom(body) : undefined;
    return form === undefined ? [badRequest('Body is no JSON text')] : [null, form];
  } catch (error) {
    if (error instanceof Problem) return [error];
    throw error;
  }
}

/** Why a text is refused before it is parsed; undefined where nothing is wrong with it. */
function problemOfText(body: string): Problem | undefined {
  if (holdsNull(body)) return badRequest('Body must not hold a null character');
  if (!isTooDeep(body)) return undefined;
  return badRequest(`Body is nested more than ${MAX_JSON_DEPTH} levels deep`);
}

/**
 * JSON values that are words of a plain text too: a description may be `true` or `12.0`, and
 * `null`.
 */
function isBareWord(value: unknown): boolean {
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}

/** Deeper than any object of the interface; unbounded, it would exhaust the stack of whoever walks it. */
const MAX_JSON_DEPTH = 64;

/** Whether JSON text opens more lists and objects within each other than `MAX_JSON_DEPTH`. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  let inText = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (inText) {
      if (character === BACKSLASH) index += 1;
      else if (character === QUOTE) inText = false;
    } else if (character === QUOTE) {
      inText = true;
    } else if (character === OPEN_LIST || character === OPEN_OBJECT) {
      depth += 1;
      if (depth > MAX_JSON_DEPTH) return true;
    } else if (character === CLOSE_LIST || character === CLOSE_OBJECT) {
      depth -= 1;
    }
  }
  return false;
}

/** Whether text, or JSON text in an escape, holds the one character that PostgreSQL cannot keep. */
export function holdsNull(text: string): boolean {
  return text.includes('\0') || /(?<!\\)(?:\\\\)*\\u0000/.test(text);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** What a form with a file of keys says, in the members of the JSON body that says the same. */
interface KeysForm {
  readonly keys: readonly string[];
  readonly title?: unknown;
  readonly comment?: unknown;
}

/** One part of a form. */
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
function keysFormFrom(body: string): KeysForm | undefined {
  const boundary = /^--\S[^\r\n]*(?=\r?\n)/.exec(body)?.[0];
  if (boundary === undefined) return undefined;
  const parts = partsOf(body, boundary);
  const file = parts.find(({ name }) => name === 'file');
  if (file === undefined) throw badRequest('The form has no part "file"');
  const { title, comment } = payloadOf(parts.find(({ name }) => name === 'payload')?.text);
  return { keys: keysOf(file.text), title, comment };
}

/** The parts of a form that have a name. A part without one is passed over. */
function partsOf(body: string, boundary: string): Part[] {
  return body.split(boundary).flatMap((piece) => {
    const part = piece.replace(/^\r?\n/, '');
    const blank = /\r?\n\r?\n/.exec(part);
    if (blank === null) return [];
    const head = part.slice(0, blank.index);
    const name = /^content-disposition:.*[;\s]name="?([^";\r\n]*)/im.exec(head)?.[1];
    const text = part.slice(blank.index + blank[0].length).replace(/\r?\n$/, '');
    return name === undefined ? [] : [{ name, text }];
  });
}

/**
 * Title and comment of the form.
 *
 * @throws Problem (400) the part is there and is no JSON object.
 */
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

/**
 * The keys of a file, one on each line; blank lines count for nothing.
 *
 * @throws Problem (400) the file is not UTF-8, or has more columns than one.
 */
function keysOf(text: string): string[] {
  // What is left of bytes that are no UTF-8.
  if (text.includes('\u{FFFD}')) throw badRequest('The file is not UTF-8');
  return text
    .replace(/^\u{FEFF}/u, '')
    .split(/\r\n|\n|\r/)
    .map((line, index) => keyOf(line, index + 1))
    .filter((key) => key !== '');
}

/** A quoted field of CSV, in which a quotation mark is doubled. */
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

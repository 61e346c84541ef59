import { Writable } from 'node:stream';
import { pino, type Logger } from 'pino';

/** A line for operators: a message that never changes, and the facts as fields. */
export interface Log {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** `json`: one JSON object a line; `pretty`: one line of words. */
  readonly format: 'pretty' | 'json';
  readonly stream: NodeJS.WritableStream;
}

/** Our own Admin API keys, wherever one turns up. */
const KEYS = /\bfha_[\w-]+/g;

export function createLog({ level, format, stream }: LogOptions): Log {
  const redacting = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const line = chunk.toString('utf8').replaceAll(KEYS, 'fha_…');
      stream.write(format === 'json' ? line : prettyLine(line));
      done();
    },
  });
  const logger: Logger = pino(
    { level, base: null, redact: ['authorization', '*.authorization'] },
    redacting,
  );
  return {
    debug: (fields, message) => {
      logger.debug(fields, message);
    },
    info: (fields, message) => {
      logger.info(fields, message);
    },
    warn: (fields, message) => {
      logger.warn(fields, message);
    },
    error: (fields, message) => {
      logger.error(fields, message);
    },
  };
}

const LEVELS: Readonly<Record<number, string>> = {
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
};

function prettyLine(json: string): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const clock = new Date(Number(time)).toISOString().slice(11, 19);
  const facts = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `${[clock, LEVELS[Number(level)] ?? 'info', String(msg), ...facts].join(' ')}\n`;
}

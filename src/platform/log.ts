import { createRequire } from 'node:module';
import type { Logger, pino as Pino } from 'pino';

type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Fields of a log line: plain values, never a whole answer or a list of keys. */
type LogFields = Readonly<Record<string, unknown>>;

/** Messages are constant; varying values go into the fields. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  child(fields: LogFields): Log;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: 'pretty' | 'json';
  /** Usually standard error, because standard output is for results alone. */
  readonly stream: { write(text: string): unknown; readonly isTTY?: boolean | undefined };
  readonly colour?: boolean | undefined;
  /** Further secrets to redact, such as a key without the prefix. Called for every line. */
  readonly secrets?: (() => readonly string[]) | undefined;
}

/** Loads the logging library with the first line, because most commands log nothing. */
export function createLog(options: LogOptions): Log {
  let root: Logger | undefined;
  return logOver(() => (root ??= createPino(options)));
}

function logOver(logger: () => Logger): Log {
  const at = (level: Exclude<LogLevel, 'silent'>) => (fields: LogFields, message: string) => {
    logger()[level](fields, message);
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => {
      let child: Logger | undefined;
      return logOver(() => (child ??= logger().child(fields)));
    },
  };
}

function createPino({ level, format, stream, colour, secrets }: LogOptions): Logger {
  const { pino } = createRequire(import.meta.url)('pino') as { pino: typeof Pino };
  const hasColour = colour ?? stream.isTTY === true;
  const write = (json: string): void => {
    const line = redact(json, secrets?.() ?? []);
    stream.write(format === 'json' ? line : prettyLine(line, hasColour));
  };
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.errWithCause },
    },
    { write },
  );
}

/** Redacts the finished line, which covers every field, message and stack. */
function redact(json: string, secrets: readonly string[]): string {
  const withoutShapes = json
    .replace(/("(?:proxy-)?authorization"\s*:\s*)"(?:[^"\\]|\\.)*"/gi, '$1"[redacted]"')
    .replace(/\bBearer\s+[^\s"\\,]+/gi, 'Bearer [redacted]')
    .replace(/fka_[\w-]+/g, '[redacted]');
  return secrets
    .filter((secret) => secret !== '')
    .reduce((line, secret) => line.replaceAll(secret, '[redacted]'), withoutShapes);
}

const COLOURS: Readonly<Record<string, string>> = {
  debug: '2',
  info: '36',
  warn: '33',
  error: '31',
};

/** `14:03:07 warn  message  field=value` on one line: JSON escapes line breaks in values. */
function prettyLine(json: string, hasColour: boolean): string {
  const { time, level, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const word = String(level).padEnd(5);
  const shown = hasColour ? `\u001b[${COLOURS[String(level)] ?? '0'}m${word}\u001b[0m` : word;
  const facts = Object.entries(fields).map(([name, value]) => `${name}=${valueText(value)}`);
  const text = [typeof msg === 'string' ? msg : '', ...facts]
    .join('  ')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ');
  return `${String(time).slice(11, 19)} ${shown} ${text}\n`;
}

function valueText(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'stack' in value && 'message' in value) {
    return JSON.stringify(value.message);
  }
  if (typeof value === 'string' && /^[\w./:@+-]+$/.test(value)) return value;
  return JSON.stringify(value);
}

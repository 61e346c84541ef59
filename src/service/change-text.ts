import type { AuditEntry } from './store/audit.js';
import type { KeysChange, MemberChange } from './rules/difference.js';

/** Longer values are cut and end in `…`; the log in JSON holds them in full. */
const MAX_VALUE_LENGTH = 200;

/**
 * One change for people to read. The first line says when, what, by whom and why. Below it each member that changed has
 * a line: `+` for a new member, `-` for a removed one, `~` for one that differs.
 */
export function changeLines(entry: AuditEntry): string[] {
  const place = entry.environment === null ? '' : `@${entry.environment}`;
  const key = entry.keyId === null ? '' : ` (${entry.keyId})`;
  const notes = [entry.title, entry.comment].flatMap((text) =>
    text === null ? [] : [`  ${oneLine(text)}`],
  );
  const time = new Date(entry.time).toISOString();
  const object = `${entry.kind}/${oneLine(entry.name + place)}`;
  const who = oneLine(entry.keyName ?? '?') + key;
  const difference = entry.difference as (MemberChange | KeysChange)[];
  return [
    `${time}  ${entry.action}  ${object}  by ${who}${notes.join('')}`,
    ...difference.map((each) => `    ${memberLine(each)}`),
  ];
}

function memberLine(change: MemberChange | KeysChange): string {
  const path = oneLine(change.path);
  if ('sample' in change) {
    const { added, removed, sample } = change;
    const more = added + removed > sample.length ? ', …' : '';
    return `~ ${path}  ${added} added, ${removed} removed: ${oneLine(sample.join(', '))}${more}`;
  }
  if (!('before' in change)) return `+ ${path}  ${valueText(change.after)}`;
  if (!('after' in change)) return `- ${path}  ${valueText(change.before)}`;
  return `~ ${path}  ${valueText(change.before)} → ${valueText(change.after)}`;
}

function valueText(value: unknown): string {
  const text = oneLine(JSON.stringify(value));
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}

/** Names and titles come from others, so nothing in them may move the cursor or start a line. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
}

import type { Action, Change, FieldChange } from '../../model/plan.js';
import { keysText, plural } from '../values.js';
import { clean } from '../sanitize.js';
import { cut, span } from '../text/layout.js';
import { fieldLabel, sideText } from './field.js';
import type { Row } from './row.js';
import { KIND_TEXTS } from './words.js';

/** The title of the differences that a second look found. */
export const LEFT_TITLE = 'Left after the apply';

/** A list of rules is cut; the JSON report has all of it. */
const VALUE_COLUMNS = 200;

/** The wanted and the found state of a whole object; for an update only its fields matter. */
const WHOLE: Readonly<Record<Action, string>> = {
  create: 'wanted, and not found',
  activate: 'wanted active, found inactive',
  update: '',
  delete: 'found, and not wanted',
  deactivate: 'wanted inactive, found active',
};

/** A remaining difference, with the wanted and the found value of each field. */
export function leftRow(change: Change, showKeys: boolean): Row {
  return {
    mark: span('!', 'alarm'),
    subject: clean(change.id),
    deed: span(WHOLE[change.action]),
    origin: [],
    lines: detailTexts(change, showKeys).map((text) => [span(text)]),
  };
}

function detailTexts({ ref, action, fields, keys }: Change, showKeys: boolean): string[] {
  if (KIND_TEXTS[ref.kind].details === 'identities') {
    const count = (keys?.added.length ?? 0) + (keys?.changed?.length ?? 0);
    return [`${plural(count, 'key')} wanted, and not taken by the service`];
  }
  const differing = action === 'update' ? fields.map((field) => fieldText(field, showKeys)) : [];
  return keys ? [...differing, keysLeft('keys', keys, showKeys)] : differing;
}

function fieldText({ path, keys, before, after }: FieldChange, showKeys: boolean): string {
  if (keys) return keysLeft(fieldLabel(path), keys, showKeys);
  const [wanted, found] = [after, before].map((side) =>
    cut(sideText(side, { showKeys }), VALUE_COLUMNS),
  );
  return `${fieldLabel(path)}: wanted ${wanted ?? ''}; found ${found ?? ''}`;
}

function keysLeft(label: string, keys: Change['keys'] & object, showKeys: boolean): string {
  return `${label}: still to be written ${keysText(keys, { showKeys })}`;
}

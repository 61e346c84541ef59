import { parse } from 'yaml';
import { projectText } from '../docs/page.js';

/** The word of a type, a list of one shape, or members by name. */
type Shape = string | readonly [Shape] | { readonly [member: string]: Shape };

const { kinds: KINDS } = parse(projectText('test/fixtures/kubernetes-kinds.yaml'), {
  maxAliasCount: -1,
}) as { readonly kinds: Readonly<Record<string, Shape>> };

/** What is wrong with an object, each with its place; empty if a server takes it as it is. */
export function faultsOf(object: unknown): string[] {
  const { apiVersion, kind, ...rest } = object as Readonly<Record<string, unknown>>;
  const shape = KINDS[`${String(apiVersion)} ${String(kind)}`];
  if (shape === undefined) return [`${String(apiVersion)} ${String(kind)} is unknown`];
  return faultsIn(rest, shape, String(kind));
}

function faultsIn(value: unknown, shape: Shape, place: string): string[] {
  if (typeof shape === 'string') return IS[shape]?.(value) ? [] : [`${place} is no ${shape}`];
  if (isList(shape)) {
    if (!Array.isArray(value)) return [`${place} is no list`];
    return value.flatMap((each, index) => faultsIn(each, shape[0], `${place}[${index}]`));
  }
  if (!isMapping(value)) return [`${place} is no object`];
  return Object.entries(value).flatMap(([member, each]) => {
    const known = Object.hasOwn(shape, member) ? shape[member] : undefined;
    const where = `${place}.${member}`;
    return known === undefined ? [`${where} is unknown`] : faultsIn(each, known, where);
  });
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => Number.isInteger(value);
const isMapping = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const IS: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: isText,
  number: isNumber,
  truth: (value) => typeof value === 'boolean',
  'number or text': (value) => isNumber(value) || isText(value),
  map: (value) => isMapping(value) && Object.values(value).every(isText),
  amounts: (value) =>
    isMapping(value) && Object.values(value).every((each) => isText(each) || isNumber(each)),
};

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

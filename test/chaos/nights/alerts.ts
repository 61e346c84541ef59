import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

const FILE = new URL('../../../deploy/prometheus/alerts.yaml', import.meta.url);

const { groups } = parse(readFileSync(FILE, 'utf8')) as Rules;

/** A metric, the values of one of its labels, and the comparison; `increase` compares with the value at the start. */
const CONDITION =
  /^(?:sum by \([^)]*\) )?\(?(increase)?\(?(flagkeel_\w+)(?:\{(\w+)=~?"([^"]*)"\})?(?:\[\w+\])?\)* (==|!=|>=|>) (\d+)/;

/**
 * Whether the expression of an alert holds for a scrape, apart from waits: not for as long as `for` says, from the first
 * second of a lag on, and also beside progress.
 *
 * @param lines of `/metrics`; `before` are those of the beginning.
 */
export function holds(alert: string, lines: readonly string[], before: readonly string[]): boolean {
  const rule = groups.flatMap(({ rules }) => rules).find((each) => each.alert === alert);
  const found = CONDITION.exec(rule?.expr ?? '');
  if (found === null) throw new Error(`no condition of ${alert} can be read: ${rule?.expr ?? ''}`);
  const [, increase, metric = '', label, values = '', comparison, number] = found;
  const of = (all: readonly string[]): number | undefined => {
    const such = all.filter((line) => {
      const [, name, labels = ''] = /^(\w+)(\{.*\})? /.exec(line) ?? [];
      const isSuch = label === undefined || new RegExp(`[{,]${label}="(${values})"`).test(labels);
      return name === metric && isSuch;
    });
    if (such.length === 0) return undefined;
    return such.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  const value = of(lines);
  if (value === undefined) return false;
  const bound = metric.endsWith('_seconds') ? 0 : Number(number);
  const compared = increase === undefined ? value : value - (of(before) ?? 0);
  switch (comparison) {
    case '==':
      return compared === bound;
    case '!=':
      return compared !== bound;
    case '>=':
      return compared >= bound;
    default:
      return compared > bound;
  }
}

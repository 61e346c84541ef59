import type { Bucket, Rule } from '../../model/flag/flag.js';
import { html, type Html } from '../../platform/html.js';
import { clean } from '../sanitize.js';
import { plural } from '../values.js';
import { bucketsText } from '../view/buckets.js';
import { conditionText } from '../view/matcher.js';
import { shareBar, shareTexts } from './shares.js';

/** A definition for people, whose keys are counted. */
interface ShownDefinition {
  readonly killed: boolean;
  readonly defaultTreatment: string;
  /** In whole per cent. */
  readonly trafficAllocation: number;
  /** Number of keys that are targeted one by one. */
  readonly targets: number;
  /** In words; see `ruleTexts`. */
  readonly rules: readonly string[];
  /** Serves the users for whom no rule matches. */
  readonly defaultRule: readonly Bucket[];
  /** Fields that people own: what is shown of them is what the creation sends. */
  readonly unmanaged?: readonly string[];
}

/** Each rule in words: `in segment staff → on 50 %, off 50 %`. Keys are counted. */
export function ruleTexts(rules: readonly Rule[]): string[] {
  return rules.map(({ matchers, buckets }) => {
    return `${conditionText(matchers, { showKeys: false })} → ${bucketsText(buckets)}`;
  });
}

/** The effect of a flag in one environment: the shares as a bar, and the rules in words. */
export function definitionBlock(definition: ShownDefinition): Html {
  const { killed, defaultTreatment, trafficAllocation, targets, rules, defaultRule } = definition;
  const { unmanaged = [] } = definition;
  const lines = [
    ...(targets === 0 ? [] : [`${plural(targets, 'key')} by name`]),
    ...(trafficAllocation === 100 ? [] : [`traffic allocation ${String(trafficAllocation)} %`]),
    ...rules,
    ...(unmanaged.length === 0 ? [] : [`people own ${unmanaged.map(clean).join(', ')}`]),
  ];
  const rest = rules.length === 0 ? 'everybody' : 'others';
  const shares = { killed, trafficAllocation, defaultTreatment, shares: defaultRule };
  const state = killed
    ? [
        html`<p class="killed">
          <span aria-hidden="true">⊘</span> killed: everybody gets ${clean(defaultTreatment)}
        </p>`,
      ]
    : [];
  return html`${state}${shareBar(shares)}
    <ul>
      ${lines.map((line) => html`<li>${line}</li>`)}
      <li>${rest} → ${shareTexts(shares)}</li>
    </ul>`;
}

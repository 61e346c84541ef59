import type { Bucket } from '../../model/flag/flag.js';
import { html, type Html } from '../../platform/html.js';
import { bucketsText } from '../view/buckets.js';

/** The users of a flag that no rule and no target names. */
export interface Shares {
  readonly killed: boolean;
  readonly shares: readonly Bucket[];
  /** Whole per cent of the traffic that the shares apply to; the rest gets the default treatment. */
  readonly trafficAllocation: number;
  readonly defaultTreatment: string;
}

/** Number of colours; further treatments reuse them. */
const TONES = 5;

/** The default treatment is grey everywhere, whatever its place. */
function toneOf(treatment: string, { shares, defaultTreatment }: Shares): string {
  if (treatment === defaultTreatment) return 'off';
  const others = shares.filter((each) => each.treatment !== defaultTreatment);
  return `tone${String(others.findIndex((each) => each.treatment === treatment) % TONES)}`;
}

/**
 * The shares as a bar, pale if a kill keeps them from being served. The ground of the bar is the default treatment, and
 * each other treatment is a part on it. It is hidden from screen readers, because `shareTexts` says the same. Widths are
 * attributes, which the policies of pages allow.
 */
export function shareBar(flag: Shares): Html {
  const { killed, shares, trafficAllocation, defaultTreatment } = flag;
  let from = 0;
  const parts = shares.flatMap(({ treatment, size }) => {
    const [x, width] = [from, (size * trafficAllocation) / 100];
    from += width;
    if (treatment === defaultTreatment || width === 0) return [];
    const at = html`x="${String(x)}" width="${String(width)}"`;
    return [html`<rect ${at} height="1" class="${toneOf(treatment, flag)}" />`];
  });
  const look = killed ? 'share unserved' : 'share';
  const box = html`viewBox="0 0 100 1" preserveAspectRatio="none"`;
  return html`<svg class="${look}" ${box} aria-hidden="true">${parts}</svg>`;
}

/** The shares in words, each with the colour that it has in the bar: `on 25 %, off 75 %`. */
export function shareTexts(flag: Shares): Html {
  if (flag.shares.length === 0) return html`${bucketsText([])}`;
  const texts = flag.shares.map((bucket, at) => {
    const comma = at === flag.shares.length - 1 ? '' : ', ';
    // The style keeps the words of a part on one line.
    const words = bucketsText([bucket]).replaceAll('\u00a0', ' ');
    const tone = toneOf(bucket.treatment, flag);
    return html`<span class="part"><i class="key ${tone}" aria-hidden="true"></i>${words}</span
      >${comma}`;
  });
  return html`${texts}`;
}

import { html, type Html } from '../../platform/html.js';
import { clean } from '../sanitize.js';

/** One step of a ramp, as it is drawn. */
interface DrawnStep {
  /** Whole per cent. */
  readonly percent: number;
  /** When it is due, or what became of it; untrusted text. */
  readonly words: string;
  /** Whether the service serves this share, or has served it. */
  readonly isReached: boolean;
}

/** The steps of a ramp as a staircase. Each has its share and its time in words, and a reached step is filled. */
export function rampSteps(label: string, steps: readonly DrawnStep[]): Html {
  const items = steps.map(({ percent, words, isReached }) => {
    const height = String(percent);
    return html`<li>
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
        <rect
          x="0"
          y="${String(100 - percent)}"
          width="100"
          height="${height}"
          class="${isReached ? 'reached' : 'ahead'}"
        ></rect>
      </svg>
      <strong>${height} %</strong>
      <span class="soft">${clean(words)}</span>
    </li>`;
  });
  return html`<figure>
    <figcaption>${label}</figcaption>
    <ol class="ramp">
      ${items}
    </ol>
  </figure>`;
}

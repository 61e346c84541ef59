const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['true', true],
  ['off', false],
  ['false', false],
]);

/** Whether a flag with these treatments answers true or false. */
export function isSwitch(treatments: readonly string[]): boolean {
  return treatments.every((name) => TRUTHS.has(name));
}

/** What a treatment is to OpenFeature: a truth value for a flag that is a switch; otherwise its name. */
export function openFeatureValue(
  treatment: string,
  treatments: readonly string[],
): boolean | string {
  return isSwitch(treatments) ? (TRUTHS.get(treatment) ?? treatment) : treatment;
}

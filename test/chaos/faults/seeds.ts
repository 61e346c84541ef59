/**
 * Seeds of the stories: as many as `FLAGKEEL_FAULT_RUNS` says, from `FLAGKEEL_FAULT_SEED` on, which repeats a run; without
 * it they are new each time.
 */
export function seedsOf(usual: number): { seeds: readonly number[]; told: string } {
  const count = Number(process.env['FLAGKEEL_FAULT_RUNS'] ?? usual);
  const given = process.env['FLAGKEEL_FAULT_SEED'];
  const first = given === undefined ? Math.floor(Math.random() * 2 ** 30) : Number(given);
  return {
    seeds: Array.from({ length: count }, (_, i) => first + i),
    told: `FLAGKEEL_FAULT_SEED=${String(first)}, ${String(count)} stories`,
  };
}

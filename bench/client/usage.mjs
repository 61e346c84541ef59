import { writeFileSync } from 'node:fs';

/** Loaded before a program that is measured: leaves CPU time and peak memory of its process in a file. */
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const usage = { cpuMs: (userCPUTime + systemCPUTime) / 1_000, peakMiB: maxRSS / 1_024 };
  writeFileSync(process.env.BENCH_USAGE, JSON.stringify(usage));
});

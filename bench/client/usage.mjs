import childProcess from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Loaded before a program that is measured: leaves CPU time and peak memory of its process in a file, and the git
 * commands that it started.
 */
const git = [];
const { spawn } = childProcess;
childProcess.spawn = (file, args, ...options) => {
  if (file === 'git') git.push(args.join(' '));
  return spawn(file, args, ...options);
};
syncBuiltinESMExports();
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const usage = { cpuMs: (userCPUTime + systemCPUTime) / 1_000, peakMiB: maxRSS / 1_024, git };
  writeFileSync(process.env.BENCH_USAGE, JSON.stringify(usage));
});

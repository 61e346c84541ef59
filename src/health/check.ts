#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { healthUrl } from './health-url.js';

/**
 * Entry of the container's health check: exit code 0 for healthy, 1 otherwise. It finds the address by itself, because
 * the daemon, the service and one-off commands share one image.
 */
const FIRST_PROCESS = '/proc/1/cmdline';
const PATIENCE_MS = 4_000;

const url = healthUrl(readFileSync(process.argv[2] ?? FIRST_PROCESS, 'utf8').split('\0'));
if (url !== null) {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const { status } = await fetch(url, { signal, redirect: 'error' });
    process.stdout.write(`${url} answered ${String(status)}\n`);
    if (status !== 200) process.exitCode = 1;
  } catch {
    process.stdout.write(`${url} did not answer\n`);
    process.exitCode = 1;
  }
}

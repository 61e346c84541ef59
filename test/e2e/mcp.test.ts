import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { MAIN } from '../support/cli.js';
import { useScenario } from '../support/scenario.js';
import { STAGING_CONFIG } from '../support/spec-texts.js';

const scenario = useScenario();

it('ends with its input, answers what was asked before, and says nothing on standard output but the protocol', async () => {
  scenario.commit({ 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': 'flag: pay\n' }, 'Begin');
  const args = [MAIN, 'mcp', scenario.repository.directory];
  const child = spawn(process.execPath, args, { env: { PATH: process.env['PATH'] ?? '' } });
  const ended = once(child, 'exit');
  const said = text(child.stdout);
  const clientInfo = { name: 'test', version: '1' };
  const asked = [
    ['initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }],
    ['tools/call', { name: 'validate', arguments: {} }],
    ['tools/call', { name: 'plan', arguments: {} }],
  ].map(([method, params], id) => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);

  child.stdin.end(asked.join(''));

  expect(await ended).toEqual([0, null]);
  const lines = (await said).trim().split('\n');
  const answers = lines.map((line) => JSON.parse(line) as { id: number });
  expect(answers.toSorted((a, b) => a.id - b.id)).toMatchObject([
    { jsonrpc: '2.0', id: 0 },
    { jsonrpc: '2.0', id: 1, result: { structuredContent: { valid: false } } },
    { jsonrpc: '2.0', id: 2 },
  ]);
});

import { describe, expect, it, vi } from 'vitest';
import { parseYaml } from '../../../../src/specs/parse/yaml-file.js';

describe('the environment of the process', () => {
  it.each([
    ['a spec', 'flag: pay'],
    ['what is no YAML', 'flag: [pay'],
    ['what is nested too deeply', '['.repeat(1_000)],
    ['no text at all', undefined as unknown as string],
  ])('is the same after parsing %s', (_, text) => {
    const before = process.env;
    try {
      parseYaml(text);
    } catch {
      // Whatever becomes of it.
    }

    expect(process.env).toBe(before);
  });

  it('is not asked for each token: its switches print nothing', () => {
    const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    process.env['LOG_TOKENS'] = '1';
    try {
      expect(parseYaml('flag: pay')).toMatchObject({ ok: true });
      expect(printed).not.toHaveBeenCalled();
    } finally {
      printed.mockRestore();
      delete process.env['LOG_TOKENS'];
    }
  });
});

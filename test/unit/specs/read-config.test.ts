import { describe, expect, it } from 'vitest';
import { readConfig, readWatchConfig } from '../../../src/specs/read-config.js';
import { readSpecs } from '../../../src/specs/read-specs.js';
import { treeOf } from '../../support/spec-tree.js';

function read(text: string): string[] | unknown[] {
  const result = readWatchConfig('sources.yaml', Buffer.from(text));
  if (result.ok) return [...result.config.sources];
  return result.diagnostics.map(
    ({ location, code, message }) => `${location.file}:${location.line} ${code}: ${message}`,
  );
}

describe('the file of the sources', () => {
  it('names directories and git servers side by side', () => {
    expect(
      read(`sources:
  - { name: shop, directory: shop }
  - { name: app, repo: https://git.example.com/app.git, branch: main, interval: 5m }
`),
    ).toEqual([
      { name: 'shop', directory: 'shop' },
      { name: 'app', repo: 'https://git.example.com/app.git', branch: 'main', interval: '5m' },
    ]);
  });

  it('refuses a source without a place, with two places, and two of one name', () => {
    expect(
      read(`sources:
  - name: shop
  - { name: app, repo: /srv/app.git, directory: app }
  - { name: shop, directory: other }
`),
    ).toEqual([
      'sources.yaml:2 missing-field: source "shop" must name either a directory or a repo',
      'sources.yaml:3 missing-field: source "app" must name either a directory or a repo',
      'sources.yaml:4 wrong-value: there are two sources "shop"',
    ]);
  });

  it('refuses unknown fields, durations that are none, and names that fit in no URL', () => {
    expect(
      read(`sources:
  - { name: "a b", directory: a, intervall: 5m }
  - { name: b, directory: b, interval: '15' }
`),
    ).toEqual([
      expect.stringContaining('sources.yaml:2 unknown-field'),
      expect.stringContaining('sources.yaml:2 wrong-value'),
      expect.stringContaining('sources.yaml:3 wrong-value: "interval" must be a duration'),
    ]);
  });
});

it('the readable part of a config has no window, freeze or check that is wrong', async () => {
  const text = `workspace: Default
environments: { production: {} }
windows: { all: { from: 00:00, to: 24:00, zone: UTC }, none: { from: 09:00, to: 09:00, zone: UTC } }
freezes: { late: { from: 2026-11-25, to: 2026-11-20, zone: UTC } }
checks: { errors: { url: https://a.example, query: up } }
`;
  const config = await readConfig(treeOf({ 'flagkeel.yaml': text }), { readable: true });

  expect(config?.windows?.map(({ name }) => name)).toEqual(['all']);
  expect([config?.freezes, config?.checks]).toEqual([undefined, undefined]);
});

it.each([
  [
    'onDrift: propose',
    'environments:\n  production: { onDrift: propose }\nonDrift: propose\n',
    ['3 wrong-value', '4 wrong-value'],
    '"onDrift" must be one of "revert", "report"; "propose" was removed: write "report", and let the drift workflow ' +
      'that flagkeel init writes open the pull request (flagkeel drift --adopt)',
  ],
  [
    'tombstone',
    'environments: { production: {} }\nprune: true\ntombstone: { coolDown: 7d }\n',
    ['4 unknown-field'],
    '"tombstone" was removed: deletions are made in one step; take it out, and protect what ' +
      'must stay (protect: true in its spec) or have flags kept by the service (onRemove: archive)',
  ],
])('a config that still says `%s` is told what to write', async (_, text, codes, message) => {
  const result = await readSpecs(treeOf({ 'flagkeel.yaml': `workspace: Default\n${text}` }));

  const said = result.ok ? [] : result.diagnostics;
  expect(said.map(({ location, code }) => `${location.line} ${code}`)).toEqual(codes);
  expect(said[0]?.message).toBe(message);
});

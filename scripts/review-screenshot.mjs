// Renders the comment of a review of specs-example, as a forge shows it, into docs/images. Needs `npm run build`, git and
// Chromium: npx tsx scripts/review-screenshot.mjs [/usr/bin/chromium]
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import MarkdownIt from 'markdown-it';
import { chromium } from 'playwright-core';
import { smallPng } from './small-png.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const IMAGES = join(ROOT, 'docs', 'images');
const WIDTH = 900;

const CSS = `
  body { margin: 0; padding: 16px 24px; font: 14px/1.5 -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; color: #1f2328; }
  h3 { font-size: 18px; margin: 8px 0 12px; } h4 { margin: 16px 0 8px; }
  table { border-collapse: collapse; } th, td { border: 1px solid #d1d9e0; padding: 5px 11px; text-align: left; }
  code { font: 12px "DejaVu Sans Mono", monospace; background: #eff1f3; padding: 2px 4px; border-radius: 4px; }
  pre { background: #f6f8fa; padding: 12px; border-radius: 6px; overflow: hidden; } pre code { background: none; padding: 0; }
  sub { font-size: 11px; color: #59636e; }
`;
const DARK = `
  body { color: #f0f6fc; background: #0d1117; }
  th, td { border-color: #3d444d; } code { background: #262c36; } pre { background: #151b23; } sub { color: #9198a1; } a { color: #4493f8; }
`;
/** On a telephone a forge lets a wide table be moved by itself. */
const NARROW = `body { overflow-wrap: break-word; } table { display: block; overflow-x: auto; }`;

const folder = mkdtempSync(join(tmpdir(), 'flagkeel-screenshot-'));
try {
  begin();
  change();
  const html = rendered(review());
  slip();
  const invalid = rendered(review());
  mkdirSync(IMAGES, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.argv[2] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  try {
    const page = await browser.newPage({ viewport: { width: WIDTH, height: 100 } });
    await shoot(page, html, 'review-comment.png');
    await shoot(page, html, 'review-comment-dark.png', DARK);
    await shoot(
      page,
      html.replaceAll('<details>', '<details open>'),
      'review-comment-unfolded.png',
    );
    await shoot(page, invalid, 'review-invalid.png');
    await shoot(page, invalid, 'review-invalid-dark.png', DARK);
    await page.setViewportSize({ width: 390, height: 100 });
    await shoot(page, html, 'review-comment-narrow.png', NARROW);
    await shoot(page, invalid, 'review-invalid-narrow.png', NARROW);
  } finally {
    await browser.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function shoot(page, html, name, css = '') {
  await page.setContent(`<!doctype html><meta charset="utf-8"><style>${CSS}${css}</style>${html}`);
  writeFileSync(join(IMAGES, name), await smallPng(await page.screenshot({ fullPage: true })));
}

function begin() {
  cpSync(join(ROOT, 'specs-example'), folder, { recursive: true });
  git('init', '--quiet', '--initial-branch=main');
  commit('Begin');
}

/** A pull request that ramps one flag, kills another one and adds keys to a segment. */
function change() {
  edit('flags/checkout/new-checkout.yaml', /"on": 10\b/, '"on": 25');
  edit('segments/beta-testers.production.keys', /$/, 'user-2001\nuser-2002\nuser-2003\n');
  commit('Ramp the new checkout to a quarter');
  edit(
    'kills/production.yaml',
    /^kills: \{\}$/m,
    'kills:\n  search-ranking: { reason: INC-4711 results are empty, by: ana }',
  );
  commit('Kill the new ranking, INC-4711');
}

/** One more commit, that cannot be read as specs. */
function slip() {
  edit('flags/checkout/new-checkout.yaml', /^tags:/m, 'tag:');
  commit('Tidy the new checkout up');
}

/** What the comment says; invalid specs end the command with a code of their own. */
function review() {
  const options = ['--offline', '--forge', 'none', '--since', 'HEAD~2', '--target', 'main'];
  const args = [join(ROOT, 'dist', 'main.js'), 'review', ...options, '.'];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  if (stdout === '') throw new Error('the review said nothing');
  return stdout;
}

/** Most machines that run this have no font with emoji. */
function rendered(markdown) {
  const plain = markdown.replaceAll('⚠️', '⚠').replaceAll('✅', '✔').replaceAll('⛔', '✘');
  return new MarkdownIt({ html: true }).render(plain);
}

function edit(file, pattern, replacement) {
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  const changed = text.replace(pattern, replacement);
  if (changed === text) throw new Error(`${file} holds nothing like ${String(pattern)}`);
  writeFileSync(path, changed);
}

function commit(message) {
  git('add', '--all');
  git(
    '-c',
    'user.name=Ana',
    '-c',
    'user.email=ana@example.com',
    'commit',
    '--quiet',
    '-m',
    message,
  );
}

function git(...args) {
  execFileSync('git', args, { cwd: folder, stdio: 'inherit' });
}

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConsoleBrowser, signInTo, type Page } from '../support/console-browser.js';
import {
  askForALargeChange,
  aShopWithConsole,
  askForChanges,
  LONG_KEYS,
} from '../support/console-story.js';
import { aDefinition, callsOf, ruleOn, type ServiceCalls } from '../support/service-calls.js';
import type { TestService } from '../support/service.js';

/** What a browser gets and may do at `/`, asked as a browser asks. */
let service: TestService;
let now = Date.now();
const PRODUCTION = '/splits/ws/Shop/checkout-v2/environments/production';

async function openShop(): Promise<() => Promise<void>> {
  service = await aShopWithConsole({ clock: () => now });
  return async () => service.stop();
}

// A browser may sign in ten times in a minute.
beforeEach(() => {
  now += 60_000;
});

const client = (): ServiceCalls => callsOf(service);
const aBrowser = (): ConsoleBrowser => new ConsoleBrowser(service);
const signedIn = async (key?: string): Promise<ConsoleBrowser> => signInTo(service, key);

/** What stands in headings of one rank, up to the first blank. */
function headings(text: string, tag: 'h2' | 'h3'): (string | undefined)[] {
  return [...text.matchAll(new RegExp(`<${tag}>\\s*(?:<a[^>]*>)?([\\w-]+)`, 'g'))].map(
    ([, word]) => word,
  );
}

/** The id of an environment, as pages name it. */
async function environmentId(name: string): Promise<string> {
  const all = await client().ok<{ id: string; name: string }[]>('GET', '/environments/ws/Shop');
  return all.find((each) => each.name === name)?.id ?? '';
}

async function isKilled(): Promise<boolean> {
  return (await client().ok<{ killed: boolean }>('GET', PRODUCTION)).killed;
}

/** Of pages that are asked for one after the other, and of forms that are sent. */
const statusesOf = (...pages: readonly Page[]): number[] => pages.map(({ status }) => status);

const PLACES = ['flag', 'segments', 'keys', 'requests', 'request', 'log', 'switch'];

describe('whoever is not signed in', () => {
  beforeAll(openShop);

  it('sees the form to sign in, and nothing else', async () => {
    for (const path of ['/', ...PLACES.map((each) => `/console/${each}`)]) {
      const { status, text, headers } = await aBrowser().get(path);
      expect([path, status]).toEqual([path, 200]);
      expect(text).toContain('<h1>Sign in</h1>');
      expect(text).not.toContain('Shop');
      expect(headers.get('content-security-policy')).not.toContain('script-src');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });

  it('is let in by a valid key alone, with a cookie that no script and no other site can use', async () => {
    const wrong = await aBrowser().signIn(`${service.key}x`);
    const right = await aBrowser().signIn(` ${service.key} `);
    const behindProxy = await aBrowser().signIn(service.key, { 'x-forwarded-proto': 'https' });

    expect(wrong.status).toBe(401);
    expect(wrong.text).toContain('API key missing, wrong, revoked or of another type');
    expect(wrong.headers.get('set-cookie')).toBeNull();
    expect(right.headers.get('set-cookie')).toMatch(
      /^flagkeel_console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=28800$/,
    );
    expect(behindProxy.headers.get('set-cookie')).toMatch(/; Secure$/);
  });

  it('can try ten times in a minute', async () => {
    const browser = aBrowser();
    for (let tries = 0; tries < 10; tries += 1) {
      expect((await browser.signIn('no')).status).toBe(401);
    }
    for (const key of ['no', service.key]) expect((await browser.signIn(key)).status).toBe(429);
    now += 60_000;

    expect((await browser.signIn(service.key)).status).toBe(303);
  });
});

describe('the pages', () => {
  beforeAll(openShop);

  it('show flags with all environments side by side: shares, targets, rules in words, kills', async () => {
    const page = await (await signedIn()).get('/');
    const text = page.text.replaceAll(/<\/?(?:i|span)\b[^>]*>/g, '').replaceAll(/\s+/g, ' ');

    // The production environment first.
    expect(headings(text, 'h3').slice(0, 3)).toEqual(['production', 'staging', 'dev']);
    for (const words of [
      'The checkout in one page',
      'others → on 25 %, off 75 %',
      '3 keys by name',
      'segment beta-testers',
      'killed: everybody gets off',
      'no definition',
    ]) {
      expect(text).toContain(words);
    }
    expect(text).toMatch(/<rect\s+x="0"\s+width="25"/);
    expect(text).not.toContain('chu');
    const found = await (await signedIn()).get('/?q=SEARCH');
    expect(headings(found.text, 'h2')).toEqual(['new-search']);
  });

  it('show one flag with its history, which a restricted key cannot read', async () => {
    const key = await service.createKey('of production', { environments: ['production'] });
    const path = '/console/flag?ws=Shop&flag=recommendations';

    const [all, some] = [await (await signedIn()).get(path), await (await signedIn(key)).get(path)];
    const none = await (await signedIn()).get('/console/flag?ws=Shop&flag=none');

    expect(all.text).toContain('Kill: INC-6012: slow answers');
    expect(all.text).not.toContain('checkout-v2');
    expect(some.text).toContain('killed: everybody gets off');
    expect(some.text).toContain('cannot read the log');
    expect(some.text).not.toContain('INC-6012');
    expect(none.status).toBe(404);
  });

  it('show the audit log with what differs, for one object where it is named', async () => {
    const browser = await signedIn();
    const all = await browser.get('/console/log');
    const one = await browser.get('/console/log?object=flag/recommendations');

    expect(all.text).toContain('flag/checkout-v2@production');
    expect(one.text).not.toContain('checkout-v2');
    expect(one.text).toContain('Kill: INC-6012: slow answers');
    expect(one.text).toContain('!! killed: no → YES');
  });

  it('escape whatever was written by others', async () => {
    const evil = `<script>alert(1)</script>"'&`;
    const asked = encodeURIComponent(evil);
    const path = `/splits/ws/Shop/trafficTypes/user?title=${asked}`;
    await client().ok('POST', path, { name: 'evil', description: evil });
    const treatments = [{ name: 'on', keys: [evil] }, { name: 'off' }];
    const rules = [ruleOn({ type: 'IN_LIST_STRING', attribute: evil, strings: [evil] })];
    const definition = aDefinition({ treatments, rules });
    await client().ok('POST', '/splits/ws/Shop/evil/environments/dev', definition);
    await client().ok('PUT', '/segments/dev/beta-testers/upload', [evil]);
    const browser = await signedIn();
    const environment = await environmentId('dev');
    for (const page of [
      `/?q=evil`,
      `/?q=${asked}`,
      '/console/log',
      `/console/log?object=${asked}`,
      `/?ws=${asked}`,
      `/console/keys?environment=${environment}&segment=beta-testers&q=${asked}`,
    ]) {
      const { text } = await browser.get(page);
      expect([page, /<script|"'&"|value="[^"]*<|alert\(1\)<\/script/.exec(text)?.[0]]).toEqual([
        page,
        undefined,
      ]);
    }
  });

  it('are refused in words where something is not there, or holds a null character', async () => {
    const browser = await signedIn();

    const missing = await browser.get('/?ws=none');
    const place = await browser.get('/console/switch?environment=none&flag=x');

    expect(statusesOf(missing, place, await browser.get('/?q=%00'))).toEqual([404, 404, 400]);
    expect(missing.text).toContain('The workspace none could not be found');
  });
});

describe('kill and restore', () => {
  beforeAll(openShop);

  const form = async (
    browser: ConsoleBrowser,
    reason = 'It is on fire',
  ): Promise<Record<string, string>> => ({
    token: await browser.token(),
    environment: await environmentId('production'),
    ws: 'Shop',
    flag: 'checkout-v2',
    reason,
  });

  it('are written with the reason, the key and the mark of the console', async () => {
    const browser = await signedIn();
    const fields = await form(browser);
    const page = await browser.get(`/console/switch?${new URLSearchParams(fields).toString()}`);
    expect(page.text).toContain('Everybody gets off at once');
    const killed = await browser.post('/console/kill', fields);
    expect(killed.headers.get('location')).toBe('/?ws=Shop&q=checkout-v2');
    expect([killed.status, await isKilled()]).toEqual([303, true]);
    const restored = await browser.post('/console/restore', { ...fields, reason: 'It is out' });
    expect([restored.status, await isKilled()]).toEqual([303, false]);
    const both = { title: 'By hand in the console', keyName: 'test', environment: 'production' };
    expect(await service.audit({ name: 'checkout-v2' }, { offset: 0, limit: 2 })).toMatchObject([
      { ...both, action: 'restore', comment: 'It is out' },
      { ...both, action: 'kill', comment: 'It is on fire' },
    ]);
  });

  it('take a reason as long as the page lets it be, in any script', async () => {
    const browser = await signedIn();
    const reason = '語'.repeat(2_000);

    for (const path of ['/console/kill', '/console/restore']) {
      expect((await browser.post(path, await form(browser, reason))).status).toBe(303);
    }
    const [restored] = await service.audit({ name: 'checkout-v2' });
    expect(restored).toMatchObject({ action: 'restore', comment: reason });
  });

  it('need a reason, a session, a form of this session and a page of this service', async () => {
    const browser = await signedIn();
    const other = await signedIn();
    const fields = await form(browser);
    const kill = async (who: ConsoleBrowser, changed = {}, headers = {}): Promise<number> =>
      (await who.post('/console/kill', { ...fields, ...changed }, headers)).status;

    const statuses = [
      await kill(browser, { reason: ' ' }),
      await kill(aBrowser()),
      await kill(other),
      await kill(browser, { token: '' }),
      await kill(browser, {}, { origin: 'https://evil.example' }),
      await kill(browser, {}, { origin: 'null' }),
      (await aBrowser().signIn(service.key, { origin: 'https://evil.example' })).status,
    ];

    expect(statuses).toEqual([400, 403, 403, 403, 403, 403, 403]);
    expect(await isKilled()).toBe(false);
    // A link that somebody is lured to writes nothing.
    expect(
      (await browser.get(`/console/kill?${new URLSearchParams(fields).toString()}`)).status,
    ).not.toBe(200);
  });

  it('obey the restrictions of the key, which sees its own environments and workspace alone', async () => {
    const browser = await signedIn(await service.createKey('ci', { environments: ['staging'] }));
    const fields = await form(browser);
    const flags = await browser.get('/');

    const refused = await browser.post('/console/kill', fields);
    const allowed = await browser.post('/console/kill', { ...fields, environment: 'staging' });
    const log = await browser.get('/console/log');

    expect(headings(flags.text, 'h3')).toEqual(['staging', 'staging', 'staging']);
    expect(flags.text).not.toContain('Warehouse');
    expect([refused.status, allowed.status, log.status]).toEqual([404, 303, 403]);
    expect(await isKilled()).toBe(false);
  });

  it('obey approvals, from which a kill may be exempt', async () => {
    const changePermissions = { areApprovalsRequired: true, allowKills: true };
    const path = `/environments/ws/Shop/${await environmentId('production')}`;
    await client().ok('PATCH', path, [
      { op: 'replace', path: '/changePermissions', value: changePermissions },
    ]);
    const browser = await signedIn();
    const fields = new URLSearchParams(await form(browser));
    const asks = `/console/switch?${fields.toString()}`;

    const killing = await browser.get(asks);
    const kill = await browser.post('/console/kill', await form(browser));
    const restoring = await browser.get(asks);
    const restore = await browser.post('/console/restore', await form(browser));

    expect([kill.status, restore.status]).toEqual([303, 403]);
    expect(restore.text).toContain('Approvals are required');
    // The page says so before somebody has given a reason.
    expect(killing.text).toContain('action="/console/kill"');
    expect(restoring.text).not.toContain('action="/console/restore"');
    expect(restoring.text).toMatch(/Approvals are required.*Submit a change request/);
  });
});

describe('change requests', () => {
  beforeEach(openShop);

  /** The addresses of the requests of a list, by their words; the newest of equal words. */
  async function linksOf(browser: ConsoleBrowser): Promise<Record<string, string>> {
    const { text } = await browser.get('/console/requests');
    const links: Record<string, string> = {};
    for (const [, href = '', words = ''] of text.matchAll(
      /<a href="([^"]*request\?[^"]*)"\s*>([^<]+)<\/a/g,
    )) {
      links[words.trim()] ??= href.replaceAll('&amp;', '&');
    }
    return links;
  }

  /** The text of the page of the request that a list calls so. */
  async function pageOf(browser: ConsoleBrowser, words: string): Promise<string> {
    const { text } = await browser.get((await linksOf(browser))[words] ?? '');
    return text.replaceAll(/<\/?bdi[^>]*>/g, '').replaceAll('\u00A0', ' ');
  }

  const CHANGE = 'Change checkout-v2 in staging';

  it('stand there with what became of them, the newest first, and say what they would change', async () => {
    await askForChanges(service);
    const browser = await signedIn();
    const list = (await browser.get('/console/requests')).text;

    const change = await pageOf(browser, CHANGE);
    const keys = await pageOf(browser, 'Add keys to beta-testers in staging');
    const withdrawn = await pageOf(browser, 'Kill checkout-v2 in dev');

    const asked = ['Add keys to beta-testers in staging', 'Kill checkout-v2 in dev'];
    const waits = 'waits for a decision';
    expect(Object.keys(await linksOf(browser))).toEqual([CHANGE, ...asked]);
    expect(list.match(/waits for a decision|withdrawn/g)).toEqual([waits, waits, 'withdrawn']);
    expect(list).toContain('Less of it: Until the slow query is gone');
    expect(change).toContain('trafficAllocation: 100 → 80 %');
    expect(change).toContain('targets of on: +1 −0 keys: + ana');
    expect(change).not.toContain('killed:');
    expect(keys).toContain('+1 −0 keys: + user-0451');
    expect(withdrawn).toContain('Not needed');
    expect(withdrawn).not.toContain('What it would change');
    // The only key here asked for them.
    for (const text of [change, keys]) expect(text).not.toContain('value="APPROVED"');
    expect(withdrawn).not.toContain('action="/console/decide"');
  });

  it('show every key, value and line of a large change, and the line breaks of its words', async () => {
    await askForALargeChange(service);
    const text = await pageOf(await signedIn(), 'Change recommendations in staging');

    const whole = text.replaceAll(/<summary>[^]*?<\/summary>/g, '');
    expect(text).toContain('<summary>targets of on: +60 −0 keys: + customer-number-0,');
    for (const key of LONG_KEYS) {
      expect(whole).toMatch(new RegExp(`keys: .*[+,] ${key}[,<\n]`));
      expect(whole).toContain(`&quot;country of ${key}&quot;`);
    }
    expect(whole).toContain('treatment on configuration: from line 31');
    for (const [mark, word] of Object.entries({ '-': 'before', '+': 'after' })) {
      expect(whole).toContain(`${mark} ${'long '.repeat(50)}${word}${' long'.repeat(50)}`);
    }
    expect(whole).not.toContain('line 29');
    expect(text).toMatch(/First line\s*<br \/>\s*Second line/);
    expect(whole).not.toContain('…');
  });

  it('say what a kill, an end of it, a creation and a deletion would change', async () => {
    await client().ok('PATCH', '/splits/ws/Shop/new-search/environments/dev', [
      { op: 'replace', path: '/treatments/0/description', value: 'Searches by meaning' },
    ]);
    for (const [environment, name, operationType, more] of [
      ['dev', 'checkout-v2', 'KILL', {}],
      ['production', 'recommendations', 'RESTORE', {}],
      ['dev', 'new-search', 'ARCHIVE', {}],
      ['staging', 'new-search', 'CREATE', aDefinition()],
    ] as const) {
      const body = { operationType, split: { name, ...more } };
      await client().ok('POST', `/changeRequests/ws/Shop/environments/${environment}`, body);
    }
    const browser = await signedIn();
    const deletion = await pageOf(browser, 'Delete the definition of new-search in dev');
    const creation = await pageOf(browser, 'Create the definition of new-search in staging');

    expect(await pageOf(browser, 'Kill checkout-v2 in dev')).toContain('killed: no → YES');
    expect(await pageOf(browser, 'Restore recommendations in production')).toContain(
      'killed: yes → NO',
    );
    // The flag has no definition there yet.
    const flag = await browser.get('/console/flag?ws=Shop&flag=new-search');
    expect(flag.text).toMatch(/A change request is open[^]*no definition/);
    for (const text of [deletion, creation]) {
      expect(text).toMatch(/treatments on, off · .*defaultRule /);
    }
    expect(deletion).toContain('- treatment on: description &quot;Searches by meaning&quot;');
  });

  it('count the keys of a segment that would be new or go, and not those that it has or lacks already', async () => {
    const path = '/changeRequests/ws/Shop/environments/production';
    const texts: string[] = [];
    for (const [operationType, words] of [
      ['CREATE', 'Add keys to beta-testers in production'],
      ['ARCHIVE', 'Remove keys from beta-testers in production'],
    ] as const) {
      const segment = { name: 'beta-testers', keys: ['user-0001', 'user-0002', 'user-9999'] };
      const { id } = await client().ok<{ id: string }>('POST', path, { segment, operationType });
      texts.push(await pageOf(await signedIn(), words));
      await client().ok('PUT', `/changeRequests/${id}`, { status: 'WITHDRAWN' });
    }
    expect(texts[0]).toContain('+1 −0 keys: + user-9999');
    expect(texts[1]).toContain('+0 −2 keys: − user-0001, user-0002');
  });

  it('say that an approval would move the flag to another rollout status', async () => {
    const { objects } = await client().ok<{ objects: { id: string }[] }>('GET', '/workspaces');
    const list = `/rolloutStatuses?wsId=${objects[0]?.id ?? ''}`;
    const statuses = await client().ok<{ id: string; name: string }[]>('GET', list);
    const ramping = statuses.find(({ name }) => name === 'Ramping');
    const before = await client().ok<object>('GET', PRODUCTION.replace('production', 'staging'));
    const { treatments, defaultTreatment, rules, defaultRule } = before as Record<string, unknown>;
    const split = { name: 'checkout-v2', treatments, defaultTreatment, rules, defaultRule };
    const body = { split, operationType: 'UPDATE', rolloutStatus: { id: ramping?.id } };
    await client().ok('POST', '/changeRequests/ws/Shop/environments/staging', body);

    const text = await pageOf(await signedIn(), CHANGE);

    expect(text).toContain('rolloutStatus: Pre-Production → Ramping');
    expect(text).not.toContain('Nothing, as things are now');
  });

  /** A form that decides on the newest request, which changes a flag in staging. */
  async function decisionBy(
    browser: ConsoleBrowser,
    status: string,
    reason = 'Seen by two',
  ): Promise<Page> {
    const href = (await linksOf(browser))[CHANGE] ?? '';
    const id = new URLSearchParams(href.split('?')[1]).get('id') ?? '';
    const token = await browser.token();
    return browser.post('/console/decide', { token, ws: 'Shop', id, status, reason });
  }

  async function allocation(): Promise<unknown> {
    const path = PRODUCTION.replace('production', 'staging');
    return (await client().ok<{ trafficAllocation: number }>('GET', path)).trafficAllocation;
  }

  it('are approved by another key, with a reason, and then made', async () => {
    await askForChanges(service);
    const author = await signedIn();
    const second = await signedIn(await service.createKey('second'));

    const open = await second.get('/console/flag?ws=Shop&flag=checkout-v2');
    const own = await decisionBy(author, 'APPROVED');
    const silent = await decisionBy(second, 'APPROVED', ' ');
    const unheard = await decisionBy(second, 'MERGED');
    const inherited = await decisionBy(second, 'constructor');
    const before = await allocation();
    const approved = await decisionBy(second, 'APPROVED');
    const page = await second.get(approved.headers.get('location') ?? '');
    const again = await decisionBy(second, 'REJECTED');
    const after = await second.get('/console/flag?ws=Shop&flag=checkout-v2');

    expect(open.text).toContain('A change request is open');
    const decisions = statusesOf(own, silent, unheard, inherited, approved, again);
    expect(decisions).toEqual([403, 400, 400, 400, 303, 409]);
    expect(own.text).toContain('neither approves nor rejects it; withdraw it');
    expect([before, await allocation()]).toEqual([100, 80]);
    expect(page.text).toContain('approved and made');
    expect(page.text).toContain('Seen by two');
    expect(after.text).not.toContain('A change request is open');
    expect(after.text).toContain('<strong>approve</strong>');
  });

  it('have no form for a key that may not decide, and say who may', async () => {
    await service.createKey('second');
    const third = await service.createKey('third', { environments: ['staging'] });
    const split = aDefinition({ name: 'checkout-v2', trafficAllocation: 80 });
    const body = { split, operationType: 'UPDATE', approvers: ['second'] };
    await client().ok('POST', '/changeRequests/ws/Shop/environments/staging', body);
    const seen = await pageOf(await signedIn(third), CHANGE);
    const withdrawn = await decisionBy(await signedIn(), 'WITHDRAWN');

    expect(seen).not.toContain('action="/console/decide"');
    expect(seen).toContain('This change request is decided by second');
    expect([withdrawn.status, await allocation()]).toEqual([303, 100]);
  });

  it('are of the workspace, and of environments that the key sees', async () => {
    await askForChanges(service);
    const all = await signedIn();
    const some = await signedIn(await service.createKey('of dev', { environments: ['dev'] }));
    const href = (await linksOf(all))[CHANGE] ?? '';
    interface Found {
      objects: { id: string }[];
    }
    const { objects } = await client().ok<Found>('GET', '/workspaces?name=Warehouse');
    const elsewhere = `ws=${objects[0]?.id ?? ''}`;

    expect(Object.keys(await linksOf(some))).toEqual(['Kill checkout-v2 in dev']);
    const unseen = await all.get(href.replace(/ws=[^&]+/, elsewhere));
    expect(statusesOf(await some.get(href), unseen)).toEqual([404, 404]);
    expect((await all.get(`/console/requests?${elsewhere}`)).text).toContain('Nothing was asked');
  });
});

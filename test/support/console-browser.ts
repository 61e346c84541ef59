import type { TestService } from './service.js';

export interface Page {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** Asks the pages of a service as a browser does. It follows no redirect, and keeps its cookie. */
export class ConsoleBrowser {
  cookie = '';
  readonly #origin: string;

  constructor({ origin }: Pick<TestService, 'origin'>) {
    this.#origin = origin;
  }

  async get(path: string): Promise<Page> {
    return this.#ask(path, {});
  }

  async post(path: string, fields: Record<string, string>, headers = {}): Promise<Page> {
    const own = { origin: this.#origin, 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams(fields).toString();
    return this.#ask(path, { method: 'POST', body, headers: { ...own, ...headers } });
  }

  async signIn(key: string, headers = {}): Promise<Page> {
    const page = await this.post('/console/sign-in', { key }, headers);
    this.cookie = /^([^;]+)/.exec(page.headers.get('set-cookie') ?? '')?.[1] ?? this.cookie;
    return page;
  }

  /** What stands in the forms of the pages. */
  async token(): Promise<string> {
    return /name="token" value="(\w+)"/.exec((await this.get('/')).text)?.[1] ?? '';
  }

  async #ask(
    path: string,
    init: { headers?: object; method?: string; body?: string },
  ): Promise<Page> {
    const headers = { ...init.headers, cookie: this.cookie };
    const answer = await fetch(this.#origin + path, { ...init, headers, redirect: 'manual' });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  }
}

/** @throws Error the key does not let the browser in. */
export async function signInTo(
  service: Pick<TestService, 'origin' | 'key'>,
  key = service.key,
): Promise<ConsoleBrowser> {
  const browser = new ConsoleBrowser(service);
  const { status } = await browser.signIn(key);
  if (status !== 303) throw new Error(`the console does not let the key in: ${status}`);
  return browser;
}

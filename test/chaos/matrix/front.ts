import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { holdAnswer, type HeldAnswer } from '../../support/answers.js';
import { listen, type Listening } from '../../support/loopback.js';
import type { AnswerFault } from './faults.js';
import { isOfKind, type RequestKind } from './requests.js';

/**
 * How far the request got: `before`: the service never saw it; `done`: the service did what it says and its answer was
 * lost; `answered`: the answer was sent.
 */
export type Moment = 'before' | 'done' | 'answered';

/** What is to happen to the first request of a kind. */
export type Plan = { readonly kind: RequestKind; readonly moment: Moment } & (
  | { readonly fault: AnswerFault; readonly strike?: () => void }
  | { readonly fault?: undefined; readonly strike: () => void }
);

/** Happens before the service sees the first request of a kind, which is passed on afterwards. */
export interface Before {
  readonly kind: RequestKind;
  readonly happens: () => Promise<void>;
}

/** So that a signal has come before the answer does. */
const STRUCK_BEFORE_MS = 40;

/**
 * Stands before the service at one address, so that a state which is kept by address knows the service again when a copy
 * of it is put behind. It passes everything on but the request that something is planned for.
 */
export class Front {
  readonly #server: Server;
  readonly #listening: Listening;
  #service: RequestListener = () => undefined;
  #plan: Plan | Before | undefined;
  /** `METHOD path` of the requests that the service was given, since the service was set. */
  readonly passed: string[] = [];

  private constructor(server: Server, listening: Listening) {
    this.#server = server;
    this.#listening = listening;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#take(request, response);
    });
  }

  static async open(): Promise<Front> {
    const server = createServer();
    return new Front(server, await listen(server));
  }

  get origin(): string {
    return this.#listening.url;
  }

  /** From now on everything goes to this service. */
  serve(service: RequestListener): void {
    this.#service = service;
    this.#plan = undefined;
    this.passed.length = 0;
  }

  plan(plan: Plan | Before): void {
    this.#plan = plan;
  }

  /** Forgets the plan. @returns whether the request came that it was for. */
  endPlan(): boolean {
    const wasMet = this.#plan === undefined;
    this.#plan = undefined;
    this.#server.closeAllConnections();
    return wasMet;
  }

  async close(): Promise<void> {
    await this.#listening.close();
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const plan = this.#plan;
    const isLaterPage = plan !== undefined && 'fault' in plan && plan.fault?.meets === 'pages';
    if (plan === undefined || !isOfKind(plan.kind, request, isLaterPage)) {
      this.#pass(request, response);
      return;
    }
    this.#plan = undefined;
    if ('happens' in plan) {
      void plan.happens().then(() => {
        this.#pass(request, response);
      });
    } else if (plan.fault)
      this.#spoil(struck(plan.fault, plan.strike), plan.moment, request, response);
    else this.#strike(plan.moment, plan.strike, request, response);
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url ?? '/', 'http://service');
    this.passed.push(`${request.method ?? ''} ${pathname}`);
    this.#service(request, response);
  }

  #strike(
    moment: Moment,
    strike: () => void,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    if (moment === 'before') strike();
    else if (moment === 'done') {
      withhold(response, strike);
      this.#pass(request, response);
    } else {
      response.once('finish', strike);
      this.#pass(request, response);
    }
  }

  #spoil(
    fault: AnswerFault,
    moment: Moment,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    if (moment === 'before') {
      request.resume().once('end', () => {
        fault.answer({ real: undefined, response });
      });
      return;
    }
    const url = new URL(request.url ?? '/', 'http://service');
    fault.changeQuery?.(url.searchParams);
    request.url = `${url.pathname}${url.search}`;
    withhold(response, (real) => {
      fault.answer({ real, response });
    });
    this.#pass(request, response);
  }
}

/** The same fault with a signal just before it. */
function struck(fault: AnswerFault, strike: (() => void) | undefined): AnswerFault {
  if (strike === undefined) return fault;
  const answer: AnswerFault['answer'] = (wire) => {
    strike();
    setTimeout(() => {
      fault.answer(wire);
    }, STRUCK_BEFORE_MS);
  };
  return { ...fault, answer };
}

/** Keeps an answer from being sent. @param tell may send another. */
function withhold(response: ServerResponse, tell: (real: HeldAnswer) => void): void {
  holdAnswer(response, (real) => {
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    tell(real);
  });
}

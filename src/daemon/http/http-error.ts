/** A request that the server answers with an error; the client sees the message. */
export class Refusal extends Error {
  readonly statusCode: number;

  /** @param message `cannot <do what>: <why>`, as everywhere, without anything that the client must not learn. */
  constructor(statusCode: number, message: string) {
    super(message);
    this.name = 'Refusal';
    this.statusCode = statusCode;
  }
}

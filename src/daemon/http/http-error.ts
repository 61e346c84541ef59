/** A request that is answered with an error of ours; its message is for the client. */
export class Refusal extends Error {
  readonly statusCode: number;

  /** @param message `cannot <do what>: <why>`, as everywhere. Holds nothing that the client must not know. */
  constructor(statusCode: number, message: string) {
    super(message);
    this.name = 'Refusal';
    this.statusCode = statusCode;
  }
}

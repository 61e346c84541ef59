import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/**
 * What a service says of itself under `/openapi.json`, held against what it answers.
 *
 * @throws Error the answer of an operation is not what the description says.
 */
export class ServiceDescription {
  readonly #description: Description;
  readonly #ajv = new Ajv2020({ strict: false });
  readonly #operations: readonly { method: string; path: string; pattern: RegExp }[];

  constructor(description: Description) {
    this.#description = description;
    this.#ajv.addSchema(description, 'service');
    this.#operations = Object.entries(description.paths)
      .flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => ({
          method: method.toUpperCase(),
          path,
          pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
        })),
      )
      // A path of more fixed words says more precisely what was called.
      .sort((a, b) => parameters(a.path) - parameters(b.path));
  }

  get paths(): Description['paths'] {
    return this.#description.paths;
  }

  check(method: string, path: string, status: number, body: unknown): void {
    // Faults are made by tests; the service promises nothing of them.
    if (status >= 500) return;
    const found = this.#operations.find(
      (each) => each.method === method && each.pattern.test(path),
    );
    if (found === undefined) {
      if (status === 200) throw new Error(`${method} ${path} is answered and not described`);
      return;
    }
    const pointer = [found.path, method.toLowerCase()].map(escapePart).join('/');
    const validate = this.#ajv.getSchema(
      `service#/paths/${pointer}/responses/${status}/content/application~1json/schema`,
    ) as ValidateFunction | undefined;
    if (validate === undefined) throw new Error(`${method} ${path}: ${status} is not described`);
    if (validate(body)) return;
    throw new Error(
      `${method} ${path}: ${status} is not as described: ${JSON.stringify(validate.errors)}`,
    );
  }
}

function parameters(path: string): number {
  return path.split('{').length;
}

/** A part of a JSON Pointer within a URI fragment. */
function escapePart(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}

const known = new Map<string, Promise<ServiceDescription>>();

export async function descriptionOf(origin: string): Promise<ServiceDescription> {
  const loaded =
    known.get(origin) ??
    fetch(`${origin}/openapi.json`)
      .then(async (response) => (await response.json()) as Description)
      .then((description) => new ServiceDescription(description));
  known.set(origin, loaded);
  return loaded;
}

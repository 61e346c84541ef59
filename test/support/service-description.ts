import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { API_PREFIX } from '../../src/admin-api/wire.js';

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly pattern: RegExp;
}

const JSON_TYPE = 'application/json';

/**
 * What a service says of itself under `/openapi.json`, held against what it answers.
 *
 * @throws Error the answer of an operation is not what the description says.
 */
export class ServiceDescription {
  readonly #description: Description;
  readonly #ajv = new Ajv2020({ strict: false });
  readonly #operations: readonly Operation[];

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

  /** @param sent the body of the request: what a 200 has taken has to fit its description too. */
  check(method: string, path: string, status: number, body: unknown, sent?: unknown): void {
    // Faults are made by tests; the service promises nothing of them.
    if (status >= 500) return;
    const found = this.#operationOf(method, path);
    if (found === undefined) {
      if (status === 200) throw new Error(`${method} ${path} is answered and not described`);
      return;
    }
    if (status === 200 && sent !== undefined) {
      const taken = this.#schemaAt(found, 'requestBody', 'content', JSON_TYPE);
      if (taken?.(sent) === false) {
        const body = JSON.stringify(sent).slice(0, 500);
        throw new Error(`${method} ${path} takes what it does not describe: ${body}`);
      }
    }
    const validate = this.#schemaAt(found, 'responses', String(status), 'content', JSON_TYPE);
    if (validate === undefined) throw new Error(`${method} ${path}: ${status} is not described`);
    if (validate(body)) return;
    throw new Error(
      `${method} ${path}: ${status} is not as described: ${JSON.stringify(validate.errors)}`,
    );
  }

  /** Whether a body fits its description; the path stands after the prefix. */
  takes(method: string, path: string, body: unknown, type = JSON_TYPE): boolean {
    const operation = this.#operationOf(method, API_PREFIX + path);
    const validate = operation && this.#schemaAt(operation, 'requestBody', 'content', type);
    if (validate === undefined) throw new Error(`no body of ${method} ${path} is described`);
    return validate(body);
  }

  /** The same of one parameter of the query. */
  takesQuery(method: string, path: string, name: string, value: string): boolean {
    const operation = this.#operationOf(method, API_PREFIX + path);
    const { parameters = [] } = (this.#description.paths[operation?.path ?? '']?.[
      method.toLowerCase()
    ] ?? {}) as { readonly parameters?: readonly { readonly name: string }[] };
    const index = parameters.findIndex((each) => each.name === name);
    const validate = operation && this.#schemaAt(operation, 'parameters', String(index));
    if (validate === undefined) throw new Error(`${name} of ${method} ${path} is not described`);
    return validate(/^\d+$/.test(value) ? Number(value) : value);
  }

  #operationOf(method: string, path: string): Operation | undefined {
    return this.#operations.find((each) => each.method === method && each.pattern.test(path));
  }

  /** The schema below these members of an operation. */
  #schemaAt({ method, path }: Operation, ...names: string[]): ValidateFunction | undefined {
    const parts = [path, method.toLowerCase(), ...names].map(escapePart);
    return this.#ajv.getSchema(`service#/paths/${parts.join('/')}/schema`);
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
/** By what the description says: to compile it takes longer than to start a service, and most services say the same. */
const compiled = new Map<string, ServiceDescription>();

export async function descriptionOf(origin: string): Promise<ServiceDescription> {
  const loaded =
    known.get(origin) ??
    fetch(`${origin}/openapi.json`)
      .then(async (response) => response.text())
      .then(compiledOnce);
  known.set(origin, loaded);
  return loaded;
}

function compiledOnce(text: string): ServiceDescription {
  const description = compiled.get(text) ?? new ServiceDescription(JSON.parse(text) as Description);
  compiled.set(text, description);
  return description;
}

/** A resource or a data source, from either form of a state. */
export interface Resource {
  /** Terraform's name, with module and index. */
  readonly address: string;
  readonly type: string;
  /** false for a data source. */
  readonly isManaged: boolean;
  readonly values: Members;
}

export type Members = Readonly<Record<string, unknown>>;

/** Resources in the order of the state; undefined if the document is no state. */
export function resourcesIn(document: Members): readonly Resource[] | undefined {
  if (Array.isArray(document['resources'])) {
    return recordsIn(document, 'resources').flatMap(instancesOf);
  }
  const values = document['values'];
  if (!isRecord(values)) return undefined;
  return isRecord(values['root_module']) ? resourcesOfModule(values['root_module']) : [];
}

/** From a state file. */
function instancesOf(resource: Members): Resource[] {
  const type = textIn(resource, 'type');
  const isManaged = textIn(resource, 'mode') !== 'data';
  const path = [
    textIn(resource, 'module'),
    isManaged ? '' : 'data',
    type,
    textIn(resource, 'name'),
  ];
  const base = path.filter((part) => part !== '').join('.');
  return recordsIn(resource, 'instances').map((instance) => {
    const index = instance['index_key'];
    const address = index === undefined ? base : `${base}[${JSON.stringify(index)}]`;
    const values = instance['attributes'];
    return { address, type, isManaged, values: isRecord(values) ? values : {} };
  });
}

/** From the output of `terraform show -json`. */
function resourcesOfModule(module: Members): Resource[] {
  const own = recordsIn(module, 'resources').map((resource) => ({
    address: textIn(resource, 'address'),
    type: textIn(resource, 'type'),
    isManaged: textIn(resource, 'mode') !== 'data',
    values: isRecord(resource['values']) ? resource['values'] : {},
  }));
  return [...own, ...recordsIn(module, 'child_modules').flatMap(resourcesOfModule)];
}

export function isRecord(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns an empty string if the member is no text. */
export function textIn(members: Members | undefined, name: string): string {
  const value = members?.[name];
  return typeof value === 'string' ? value : '';
}

export function numberIn(members: Members, name: string): number | undefined {
  const value = members[name];
  return typeof value === 'number' ? value : undefined;
}

export function listIn(members: Members | undefined, name: string): readonly unknown[] {
  const value = members?.[name];
  return Array.isArray(value) ? (value as unknown[]) : [];
}

export function recordsIn(members: Members | undefined, name: string): readonly Members[] {
  return listIn(members, name).filter(isRecord);
}

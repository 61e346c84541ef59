import { definitionId, type ObjectId } from '../../model/ref.js';
import type { Desired, DesiredDefinition, DesiredKill } from '../../model/desired.js';

/** A kill that git orders, in a flag itself or in the break-glass list; of any flag of the workspace. */
export interface KillOrder extends Pick<
  DesiredKill,
  'flag' | 'environment' | 'location' | 'reason' | 'by'
> {
  /** The specs have the definition: if the service has none yet, it is created killed. */
  readonly isDeclared?: boolean;
}

/**
 * Every kill that the specs order, one for each definition: break-glass entries first, because they give the reason,
 * each group in the order of the specs. Environments go by the names of the config.
 */
export function killOrders({ flags, kills }: Pick<Desired, 'flags' | 'kills'>): KillOrder[] {
  const orders = new Map(
    kills.map((kill): [ObjectId, KillOrder] => {
      const isDeclared = flags.get(kill.flag)?.environments.has(kill.environment) === true;
      return [definitionId(kill), { ...kill, isDeclared }];
    }),
  );
  for (const order of ordersOfFlags(flags)) {
    const id = definitionId(order);
    if (!orders.has(id)) orders.set(id, order);
  }
  return [...orders.values()];
}

const ordersOfAll = new WeakMap<Desired['flags'], readonly KillOrder[]>();

/** Cached: specs are immutable, and each run asks several times. */
function ordersOfFlags(flags: Desired['flags']): readonly KillOrder[] {
  const known = ordersOfAll.get(flags);
  if (known) return known;
  const orders = [...flags.values()].flatMap(({ name: flag, environments }) =>
    [...environments]
      .filter(([, { fields }]) => fields.killed === true)
      .map(([environment, { location }]): KillOrder => {
        const reason = `killed: true in ${location.file}`;
        return { flag, environment, location, reason, isDeclared: true };
      }),
  );
  ordersOfAll.set(flags, orders);
  return orders;
}

/** A definition as git orders it, killed also where the list says so; undefined if the specs do not declare it. */
export function orderedDefinition(
  desired: Desired,
  flag: string,
  environment: string,
): DesiredDefinition['creation'] | undefined {
  const creation = desired.flags.get(flag)?.environments.get(environment)?.creation;
  if (creation === undefined) return undefined;
  return { ...creation, killed: creation.killed || isKillListed(desired, flag, environment) };
}

export function isKillListed(
  { kills }: Pick<Desired, 'kills'>,
  flag: string,
  environment: string,
): boolean {
  return kills.some((kill) => kill.flag === flag && kill.environment === environment);
}

/** Whether the flag itself, the break-glass list or another directory orders the kill. */
export function isKillOrdered(desired: Desired, flag: string, environment: string): boolean {
  const definition = desired.flags.get(flag)?.environments.get(environment);
  const isElsewhere = desired.killedElsewhere?.has(definitionId({ flag, environment })) === true;
  return (
    isElsewhere || definition?.fields.killed === true || isKillListed(desired, flag, environment)
  );
}

import { realTime, type Time } from '../../api/time.js';
import type { Log } from '../../log.js';
import type { Metrics } from '../metrics/metrics.js';
import type { DaemonView } from '../view.js';
import { Delivery } from './delivery.js';
import { MessageMemory } from './message.js';
import type { NotifyTarget } from './target.js';

export interface NotificationOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly time?: Time | undefined;
}

/** One message for each run that is worth one, to each target. Nothing that goes wrong here reaches a run. */
export function startNotifications(
  view: DaemonView,
  targets: readonly NotifyTarget[],
  { log, metrics, time = realTime }: NotificationOptions,
): { readonly close: () => Promise<void> } {
  const memory = new MessageMemory();
  const deliveries = targets.map(
    (target) =>
      new Delivery(target, {
        version: view.version,
        time,
        log,
        onResult: (result) => {
          metrics.noteNotification(target.format, result);
        },
      }),
  );
  const stop = view.onRun((source, run) => {
    const message = memory.messageFor(source, run);
    if (message !== undefined)
      deliveries.forEach((delivery) => {
        delivery.add(message);
      });
  });
  return {
    close: async () => {
      stop();
      await Promise.all(deliveries.map(async (delivery) => delivery.close()));
    },
  };
}

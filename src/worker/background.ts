import type { Config } from '../platform/config.ts';
import type { Log } from '../platform/log.ts';
import { mailServerOf, sendsMails } from '../platform/mail.ts';
import type { Metrics } from '../platform/metrics.ts';
import { createOutbound } from '../platform/outbound.ts';
import { createSeals, type Seals, type SecretKeys } from '../platform/secrets.ts';
import type { Storage } from '../storage/database/orm.ts';
import { countWebhooks, readWebhookLag } from '../storage/webhooks/webhook-figures.ts';
import { runAssignment } from './assign.ts';
import { runDeliveries } from './deliveries.ts';
import { runMails } from './mails.ts';
import { runRetention } from './retention.ts';
import { runSequencer } from './sequencer.ts';
import { runTimers } from './wake.ts';

interface BackgroundDeps {
  /** As `parley_worker`. */
  storage: Storage;
  /** As `parley_app`. */
  tenants: Storage;
  config: Config;
  secretKeys: SecretKeys;
  metrics: Metrics;
  log: Log;
  signal: AbortSignal;
}

/** Work that a worker does on its own, as a step of its shutdown. */
export interface BackgroundWork {
  name: string;
  limitMs: number;
  run(): Promise<void>;
}

/** Starts the work that no job requests. Each part ends after the signal is aborted. */
export function startBackgroundWork({ tenants, config, secretKeys, ...deps }: BackgroundDeps): BackgroundWork[] {
  const seals = createSeals(secretKeys);
  const work = {
    retention: runRetention(deps),
    timers: runTimers(deps),
    'numbering events': runSequencer(deps),
    'delivering events': deliver({ ...deps, tenants, config, seals }),
    'sending mails': runMails({ ...deps, tenants, seals, server: mailServerOf(config), now: () => new Date() }),
    assignment: runAssignment({ ...deps, tenants }),
  };
  return Object.entries(work).map(([name, ended]) => ({ name, limitMs: 3000, run: () => ended }));
}

/** Delivers events to webhooks, and reports their lag and number when the metrics are read. */
async function deliver({ config, ...deps }: Omit<BackgroundDeps, 'secretKeys'> & { seals: Seals }): Promise<void> {
  const outbound = createOutbound(config);
  const { storage, metrics } = deps;
  metrics.onScrape(async () => {
    metrics.webhookLag.set(await readWebhookLag(storage));
    const { enabled, unreachable } = await countWebhooks(storage);
    metrics.webhooksEnabled.set(enabled);
    metrics.webhooksUnreachable.set(unreachable);
  });
  await runDeliveries({
    ...deps,
    outbound,
    sendsMails: sendsMails(config),
    baseUrl: config.BASE_URL,
    now: () => new Date(),
  });
  outbound.close();
}

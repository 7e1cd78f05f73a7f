import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseTypeId } from '../../src/domain/ids.ts';
import { openLedger, readLedger } from '../faults/ledger.ts';
import { type Load, percentile, startLoad, tally } from '../faults/load.ts';
import { judge, type Verdict } from '../faults/oracle.ts';
import { readFound } from '../faults/world.ts';
import type { Deployed } from '../support/deployed.ts';
import { waitFor } from '../support/wait.ts';
import { ROOT } from './cluster.ts';
import { type Installation, POSTGRES } from './installation.ts';
import { record } from './results.ts';

/** The effect of a step on the concurrent load. */
export interface Outcome {
  seconds: number;
  /** Answers that eventually got a 202. */
  acknowledged: number;
  /** Attempts without a 202, whether or not a later one succeeded. */
  failedAttempts: number;
  /** Requests that our clients would have given up: every attempt of the retry policy failed. */
  givenUp: number;
  /** The longest time without a 202. */
  longestGapMs: number;
  /** Missing acknowledged answers, and those stored or counted twice; in this step and all before. */
  lost: number;
  doubled: number;
  /** All violations found by the oracle. */
  violations: Verdict['violations'];
}

const PER_SECOND = 100;
const LANES = 40;
const BACK_WITHIN_MS = 300_000;

/** The retry policy of the clients; see clients/contract/README.md. */
const POLICY: { retries: number; base_ms: number; cap_ms: number } = JSON.parse(
  readFileSync(join(ROOT, 'clients/contract/retries.json'), 'utf8'),
).policies.request;

/** The clients' pauses with full jitter. Later attempts use the longest pause, as in an outbox. */
const pauseMs = (retry: number): number =>
  Math.random() * Math.min(POLICY.cap_ms, POLICY.base_ms * 2 ** (Math.min(retry, POLICY.retries) - 1));

const longestGap = ({ replies }: Load): number => {
  const times = replies.flatMap(({ status, at }) => (status === 202 ? [at] : []));
  return times.reduce((longest, at, place) => Math.max(longest, at - (times[place - 1] ?? at)), 0);
};

const summarise = ({ replies }: Load) => {
  const failed = replies.filter(({ status }) => status !== 202);
  return {
    failedAttempts: failed.length,
    givenUp: failed.filter(({ attempt }) => attempt === POLICY.retries + 1).length,
    replies: tally(replies),
    p99Ms: percentile(
      replies.map(({ ms }) => ms),
      0.99,
    ),
  };
};

export type Bench = Awaited<ReturnType<typeof createBench>>;

/** A tenant that receives 100 answers a second during changes of the installation, and their ledger. */
export async function createBench(installation: Installation, deployed: Deployed) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-cluster-'));
  const ledger = await openLedger(join(folder, 'ledger'));
  const { id, key, questionId } = await deployed.makeTenant();
  let clean = true;
  const sender = { uuid: parseTypeId('tenant', id) as string, apiKey: key.api_key, questionId };

  /** Resolves when this many more answers are acknowledged. */
  const more = (load: Load, answers: number) => {
    const enough = load.acknowledged() + answers;
    return waitFor(() => load.acknowledged() >= enough, BACK_WITHIN_MS);
  };

  /** Compares stored with acknowledged answers. */
  const verdict = async () => {
    await deployed.atRest(sender.apiKey, BACK_WITHIN_MS);
    await using postgres = await installation.forward(POSTGRES.service, POSTGRES.port);
    const found = await readFound(await installation.databaseUrl(postgres.port));
    return judge({ sent: await readLedger(ledger.path), ...found });
  };

  return {
    /**
     * Runs an action under load, which starts three seconds before and ends three seconds after it. Records the
     * outcome.
     */
    async underLoad(step: string, act: () => Promise<unknown>): Promise<Outcome> {
      const addresses = () => [deployed.baseUrl];
      const load = startLoad(ledger, {
        addresses,
        senders: [sender],
        batch: 1,
        lanes: LANES,
        perSecond: PER_SECOND,
        pauseMs,
      });
      let seconds = 0;
      try {
        await more(load, 3 * PER_SECOND);
        const startedAt = Date.now();
        await act();
        seconds = (Date.now() - startedAt) / 1000;
        await more(load, 3 * PER_SECOND);
      } finally {
        await load.stop();
      }
      const { violations } = await verdict();
      const count = (...kinds: string[]) => violations.filter(({ kind }) => kinds.includes(kind)).length;
      const figures = {
        seconds,
        acknowledged: load.acknowledged(),
        ...summarise(load),
        longestGapMs: longestGap(load),
        lost: count('lost'),
        doubled: count('doubled'),
      };
      record(step, figures);
      clean &&= violations.length === 0;
      return { ...figures, violations };
    },
    async [Symbol.asyncDispose]() {
      await ledger.close();
      if (clean) rmSync(folder, { recursive: true });
      else process.stderr.write(`the ledger is kept in ${folder}\n`);
    },
  };
}

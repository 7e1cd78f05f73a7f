import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';
import { shortenedFile } from './rules.ts';

const EVERY = '500ms';

/** A scraped process, with its `component` label as in installations. */
export interface Target {
  component: 'api' | 'worker';
  metricsUrl: string;
}

export interface FiringAlert {
  name: string;
  value: number;
  description: string;
}

export interface TestPrometheus extends AsyncDisposable {
  /** The current values of an expression, one per series. */
  query(expr: string): Promise<number[]>;
  firing(): Promise<FiringAlert[]>;
  /** Replaces the scraped targets. */
  scrape(targets: Target[]): Promise<void>;
}

const configuration = {
  global: { scrape_interval: EVERY, scrape_timeout: EVERY, evaluation_interval: EVERY },
  rule_files: ['rules.yaml'],
  scrape_configs: [{ job_name: 'parley', file_sd_configs: [{ files: ['targets.json'], refresh_interval: '1s' }] }],
};

/** Starts a real Prometheus with the shipped alerts, shortened. */
export async function startPrometheus(): Promise<TestPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-prometheus-'));
  const port = await freePort();
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  const scrape = (targets: Target[]) =>
    write(
      'targets.json',
      JSON.stringify(
        targets.map(({ component, metricsUrl }) => ({ targets: [new URL(metricsUrl).host], labels: { component } })),
      ),
    );
  await write('rules.yaml', shortenedFile());
  await write('prometheus.yml', stringify(configuration));
  await scrape([]);
  const child = spawn(
    'prometheus',
    [
      '--config.file=prometheus.yml',
      '--storage.tsdb.path=data',
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let complaints = '';
  child.stderr.on('data', chunk => (complaints += chunk));
  const exited = new Promise(resolve => child.once('exit', resolve));
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response;
  };
  await waitFor(() => {
    if (child.exitCode !== null) throw new Error(`Prometheus ended:\n${complaints}`);
    return get('/-/ready').catch(() => undefined);
  }, 30_000);

  return {
    scrape,
    async query(expr) {
      const { data } = (await (await get(`/api/v1/query?query=${encodeURIComponent(expr)}`)).json()) as {
        data: { result: { value: [number, string] }[] };
      };
      return data.result.map(({ value }) => Number(value[1]));
    },
    async firing() {
      const { data } = (await (await get('/api/v1/alerts')).json()) as {
        data: {
          alerts: {
            labels: { alertname: string };
            annotations: { description: string };
            state: string;
            value: string;
          }[];
        };
      };
      return data.alerts
        .filter(({ state }) => state === 'firing')
        .map(({ labels, annotations, value }) => ({
          name: labels.alertname,
          value: Number(value),
          description: annotations.description,
        }));
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true });
    },
  };
}

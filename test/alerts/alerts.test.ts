import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createMetrics } from '../../src/platform/metrics.ts';
import { ROOT } from '../support/documents.ts';
import { hasTool, runTool } from '../support/tools.ts';
import { type Rule, readPanels, readRules, readVariables, shorten } from './rules.ts';

/** Labels that Prometheus adds to each series of a target. */
const OF_THE_TARGET = ['namespace', 'component', 'job', 'instance'];
const WORDS = new Set(['and', 'or', 'unless', 'by', 'on', 'without', 'ignoring', 'offset', 'bool']);

interface Selector {
  metric: string;
  labels: string[];
}

/** The series in an expression, each with the labels that it matches or groups by. */
function selectorsIn(expr: string): Selector[] {
  const bare = expr
    .replaceAll(/"[^"]*"/g, '""')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(by|on|without|ignoring)\s*\([^)]*\)/g, '');
  return [...bare.matchAll(/\b([a-z_][a-z0-9_]*)\b(?!\s*\()(?:\{([^}]*)\})?/g)]
    .map(([, metric = '', matchers = '']) => ({
      metric,
      labels: [...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label),
    }))
    .filter(({ metric }) => !WORDS.has(metric));
}

/** The labels by which an expression groups. */
const groupedBy = (expr: string): string[] =>
  [...expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/[\s,]+/).filter(Boolean));

/** Every series that a process exports, with its labels; `undefined` for series without labels of ours. */
async function exposed(): Promise<Map<string, string[]>> {
  const metrics = createMetrics('serve');
  const own = Object.values(metrics).flatMap(value =>
    typeof value === 'object' && 'labelNames' in value
      ? [value as unknown as { name: string; labelNames: string[] }]
      : [],
  );
  const labels = new Map(own.map(({ name, labelNames }) => [name, labelNames]));
  const found = new Map<string, string[]>();
  for (const [, name = '', type] of (await metrics.render()).matchAll(/^# TYPE (\S+) (\w+)$/gm)) {
    const known = name === 'parley_build_info' ? ['version', 'commit', 'node', 'role'] : (labels.get(name) ?? []);
    if (type !== 'histogram') found.set(name, known);
    else for (const part of ['bucket', 'sum', 'count']) found.set(`${name}_${part}`, [...known, 'le']);
  }
  return found;
}

const faultsOf = (expr: string, series: Map<string, string[]>): string[] => {
  const selectors = selectorsIn(expr);
  const all = new Set([...OF_THE_TARGET, ...selectors.flatMap(({ metric }) => series.get(metric) ?? [])]);
  return [
    ...selectors.filter(({ metric }) => !series.has(metric)).map(({ metric }) => `no series ${metric}`),
    ...selectors.flatMap(({ metric, labels }) =>
      labels
        .filter(label => ![...OF_THE_TARGET, ...(series.get(metric) ?? [])].includes(label))
        .map(label => `${metric} has no label ${label}`),
    ),
    ...groupedBy(expr)
      .filter(label => !all.has(label))
      .map(label => `nothing in it has the label ${label}`),
  ];
};

test('every series and label in an alert or the dashboard is exported', async () => {
  const series = await exposed();
  const variables = readVariables()
    .map(query => /^label_values\((.*), \w+\)$/.exec(query)?.[1])
    .filter(expr => expr !== undefined);
  expect(variables).toHaveLength(2);
  const expressions = [...readRules(), ...readPanels()].map(({ expr }) => expr).concat(variables);
  expect(expressions.flatMap(expr => faultsOf(expr, series).map(fault => `${fault}: ${expr}`))).toEqual([]);
  expect(faultsOf('sum by (nowhere) (rate(parley_answer_stored_total{reason="x"}[5m]))', series)).toEqual([
    'no series parley_answer_stored_total',
    'parley_answer_stored_total has no label reason',
    'nothing in it has the label nowhere',
  ]);
});

describe.each(readRules())('$alert', ({ alert, labels, annotations }: Rule) => {
  test('has a severity and a description with its value', () => {
    expect(alert).toMatch(/^Parley[A-Z]/);
    expect(['critical', 'warning']).toContain(labels.severity);
    expect(annotations.summary.length).toBeLessThan(100);
    expect(annotations.description).toContain('{{ $value');
  });

  test('has a section in a runbook', () => {
    const [file = '', anchor] = annotations.runbook_url.split('#');
    expect(existsSync(join(ROOT, file))).toBe(true);
    expect(anchor).toBe(alert.toLowerCase());
    const section = readFileSync(join(ROOT, file), 'utf8')
      .split(/^## /m)
      .find(part => part.startsWith(`${alert}\n`));
    for (const part of ['**For users.**', '**Confirm.**', '**Do.**', '**Ends**']) expect(section).toContain(part);
  });

  test('has a promtool test and has fired on a real fault', () => {
    expect(readFileSync(join(ROOT, 'config/prometheus/alerts.test.yaml'), 'utf8')).toContain(`alertname="${alert}"`);
    expect(readFileSync(join(ROOT, 'docs/runbooks/firings.md'), 'utf8')).toContain(`| ${alert} |`);
  });
});

test('a shortened rule differs only in its windows, ages and `for`', () => {
  const rule = { alert: 'X', labels: { severity: 'warning' }, annotations: {} } as Rule;
  expect(
    shorten({ ...rule, for: '5m', expr: 'a > 5 * 60 unless rate(b{status="5.."}[1h] offset 15m) > 14.4 * 0.001' }),
  ).toEqual({
    ...rule,
    for: '5s',
    expr: 'a > 5 unless rate(b{status="5.."}[60s] offset 15s) > 14.4 * 0.001',
  });
});

test.runIf(await hasTool(['promtool', '--version'], 'the test of the alert rules'))(
  'each alert fires on its fault, and not in the similar healthy case',
  async () => {
    const output = await runTool('promtool', ['test', 'rules', 'config/prometheus/alerts.test.yaml'], { cwd: ROOT });
    expect(output).toContain('SUCCESS');
    await runTool('promtool', ['check', 'config', 'config/prometheus/prometheus.yml'], { cwd: ROOT });
  },
  120_000,
);

const PROFILE = 'docker compose --profile monitoring config --format json'.split(' ');

test.runIf(await hasTool(['docker', 'compose', 'version'], 'the test of the Compose profile'))(
  'the monitoring profile is pinned, hardened, and published only on the loopback address',
  async () => {
    const [command = '', ...args] = PROFILE;
    const { services } = JSON.parse(await runTool(command, args, { cwd: ROOT }));
    for (const name of ['prometheus', 'grafana']) {
      const service = services[name];
      expect(service.image).toMatch(/:v?\d+\.\d+\.\d+$/);
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
      expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
      expect(service.ports.map((port: { host_ip: string }) => port.host_ip)).toEqual(['127.0.0.1']);
      expect(Object.keys(service.networks)).toEqual(['outside']);
    }
  },
);

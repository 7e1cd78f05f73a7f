import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createMetrics } from '../../src/platform/metrics.ts';
import { ROOT } from '../support/documents.ts';
import { filesUnder, SRC } from '../support/modules.ts';
import { hasTool, runTool } from '../support/tools.ts';
import { NOT_FIRED, type Rule, readPanels, readRecordings, readRules, readVariables, shorten } from './rules.ts';

/** Labels that Prometheus adds to each series of a target. */
const OF_THE_TARGET = ['namespace', 'component', 'job', 'instance'];
const TESTS = ['config/prometheus/alerts.test.yaml', 'config/prometheus/slo.test.yaml'];
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
  return [...bare.matchAll(/\b([a-z_][a-z0-9_:]*)\b(?!\s*\()(?:\{([^}]*)\})?/g)]
    .map(([, metric = '', matchers = '']) => ({
      metric,
      labels: [...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label),
    }))
    .filter(({ metric }) => !WORDS.has(metric));
}

/** The labels by which an expression groups. */
const groupedBy = (expr: string): string[] =>
  [...expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/[\s,]+/).filter(Boolean));

/** Every series that a process exports, a rule records or the kubelet exports, with its labels. */
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
  for (const { record } of readRecordings()) found.set(record, []);
  for (const figure of ['available', 'capacity'])
    found.set(`kubelet_volume_stats_${figure}_bytes`, ['persistentvolumeclaim']);
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
  const expressions = [...readRules(), ...readRecordings(), ...readPanels()].map(({ expr }) => expr).concat(variables);
  expect(expressions.flatMap(expr => faultsOf(expr, series).map(fault => `${fault}: ${expr}`))).toEqual([]);
  expect(faultsOf('sum by (nowhere) (rate(parley_answer_stored_total{reason="x"}[5m]))', series)).toEqual([
    'no series parley_answer_stored_total',
    'parley_answer_stored_total has no label reason',
    'nothing in it has the label nowhere',
  ]);
});

test('the dashboard shows every series of events and webhooks', async () => {
  const shown = readPanels().flatMap(({ expr }) => selectorsIn(expr).map(({ metric }) => metric));
  const series = [...(await exposed()).keys()].filter(name => /^parley_(event|webhook)s?_/.test(name));
  expect(series.length).toBeGreaterThan(5);
  expect(series.filter(name => !/_(sum|count)$/.test(name) && !shown.includes(name))).toEqual([]);
});

describe.each(readRules())('$alert', ({ alert, labels, annotations }: Rule) => {
  test('has a severity and a description with its value', () => {
    expect(alert).toMatch(/^Parley[A-Z]/);
    expect(alert === 'ParleyWatchdog' ? ['none'] : ['critical', 'warning']).toContain(labels.severity);
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
    const tests = TESTS.map(path => readFileSync(join(ROOT, path), 'utf8')).join('');
    expect(tests).toContain(`alertname="${alert}"`);
    const firings = readFileSync(join(ROOT, 'docs/runbooks/firings.md'), 'utf8');
    expect(firings).toContain(NOT_FIRED[alert] ? `- ${alert}: ${NOT_FIRED[alert]}` : `| ${alert} |`);
  });
});

/** The messages for which the `grep` commands of a text look, with alternatives listed one by one. */
function searchedMessages(text: string): string[] {
  const patterns = [...text.matchAll(/grep (?:-E )?'"msg":"(.+?)"'/g)].map(([, pattern]) => pattern as string);
  const expand = (pattern: string): string[] => {
    const [all, before = '', list = '', after = ''] = /^([^(]*)\(([^)]*)\)(.*)$/.exec(pattern) ?? [];
    return all ? list.split('|').map(each => `${before}${each}${after}`) : [pattern];
  };
  return patterns.flatMap(expand).flatMap(expand);
}

test('each message that a runbook searches in a log is logged by the code, in these words', () => {
  const code = filesUnder(SRC)
    .map(path => readFileSync(join(SRC, path), 'utf8'))
    .join('\n');
  const runbooks = globSync('docs/runbooks/*.md', { cwd: ROOT }).map(path => readFileSync(join(ROOT, path), 'utf8'));
  const messages = runbooks.flatMap(searchedMessages);
  expect(messages.length).toBeGreaterThan(12);
  expect(messages.filter(message => !code.includes(`'${message}'`))).toEqual([]);
  for (const text of runbooks)
    for (const [command] of text.matchAll(/grep .*/g)) expect(command).toMatch(/"(msg|level)":/);
  expect(searchedMessages(`grep -E '"msg":"waiting for the (database|queue)"'`)).toEqual([
    'waiting for the database',
    'waiting for the queue',
  ]);
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

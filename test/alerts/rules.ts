import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { ROOT } from '../support/documents.ts';

export const RULES = 'config/prometheus/alerts.yaml';
export const DASHBOARD = 'config/grafana/dashboards/parley.json';

export interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string };
}

interface Recording {
  record: string;
  expr: string;
}

interface RuleFile {
  groups: { name: string; rules: (Rule | Recording)[] }[];
}

const isAlert = (rule: Rule | Recording): rule is Rule => 'alert' in rule;

const readFile = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const readGroups = () => (parse(readFile(RULES)) as RuleFile).groups;

/** Every shipped alert rule. */
export const readRules = (): Rule[] => readGroups().flatMap(group => group.rules.filter(isAlert));

/** Every shipped recording rule. */
export const readRecordings = (): Recording[] =>
  readGroups().flatMap(group => group.rules.filter((rule): rule is Recording => !isAlert(rule)));

/** Alerts that no fault of a test can fire, with the reason. */
export const NOT_FIRED: Record<string, string> = {
  ParleyWatchdog: 'always fires',
  ParleyErrorBudgetLow: 'its windows are days; tested with promtool (`slo.test.yaml`)',
  ParleyErrorBudgetBurnSlow: 'added after this run; tested with promtool (`slo.test.yaml`)',
  ParleyQueueConnectionsHigh: 'added after this run; tested with promtool',
  ParleyDatabaseConnectionsHigh: 'added after this run; tested with promtool',
  ParleyWorkStuck: 'added after this run; tested with promtool',
  ParleyMailsWaiting: 'added after this run; tested with promtool',
  ParleyMailsRefused: 'added after this run; tested with promtool',
  ParleyVolumeFilling: 'its figures come from the kubelet; tested with promtool',
};

/** The speedup of shortened rules: a minute becomes a second. */
export const FASTER = 60;

/** Thresholds out of reach for a test, with lower ones. */
const LOWERED: Record<string, [from: string, to: string]> = {
  ParleyQueueBacklogGrowing: ['> 10000', '> 100'],
  // Delays of a running process, in seconds that a test cannot shorten.
  ParleyTimersLate: ['> 60', '> 2'],
  ParleyEventsLate: ['> 60', '> 2'],
  ParleyWebhooksLate: ['> 300', '> 5'],
  ParleyWebhooksStopped: ['> 60', '> 2'],
};

const IN_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

const shortenDuration = (text: string): string =>
  text.replaceAll(/\b(\d+)([smhd])\b/g, (_, count, unit) => `${(Number(count) * (IN_SECONDS[unit] ?? 0)) / FASTER}s`);

function lower({ alert, expr }: Rule): string {
  const [from, to] = LOWERED[alert] ?? ['', ''];
  if (!expr.includes(from)) throw new Error(`${alert} has no "${from}" any more`);
  return expr.replace(from, to);
}

/** Divides windows, ages and `for` of a rule by 60. Other parts change only as listed in `LOWERED`. */
export const shorten = (rule: Rule): Rule => ({
  ...rule,
  expr: shortenDuration(lower(rule)).replaceAll(/\b(\d+) \* 60\b/g, (_, minutes) => `${(minutes * 60) / FASTER}`),
  ...(rule.for ? { for: shortenDuration(rule.for) } : {}),
});

/** The shipped rules, shortened, as a file for Prometheus. */
export const shortenedFile = (): string => {
  const shortenAny = (rule: Rule | Recording) =>
    isAlert(rule) ? shorten(rule) : { ...rule, expr: shortenDuration(rule.expr) };
  return stringify({ groups: readGroups().map(({ name, rules }) => ({ name, rules: rules.map(shortenAny) })) });
};

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

interface Dashboard {
  panels: Panel[];
  templating: { list: { name: string; query: string | { query: string } }[] };
}

const readDashboard = (): Dashboard => JSON.parse(readFile(DASHBOARD));

/** Every expression of the dashboard, with its panel's title. */
export const readPanels = (): { title: string; expr: string }[] =>
  readDashboard().panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

/** The queries of the dashboard's variables. */
export const readVariables = (): string[] =>
  readDashboard().templating.list.map(({ query }) => (typeof query === 'string' ? query : query.query));

/** Panels that a run of faults does not fill. */
const QUIET = new Set(['Expired and deleted']);
const FILLED: Record<string, string> = { $namespace: '.*', $route: '/v1/questions', $__rate_interval: '1h' };

/** Returns the panels of the dashboard, except the quiet ones, for which Prometheus has no series. */
export async function findEmptyPanels(query: (expr: string) => Promise<number[]>): Promise<string[]> {
  const empty: string[] = [];
  for (const { title, expr } of readPanels()) {
    const filled = expr.replaceAll(/\$\w+/g, name => FILLED[name] ?? name);
    if (!QUIET.has(title) && (await query(filled)).length === 0) empty.push(`${title}: ${expr}`);
  }
  return empty;
}

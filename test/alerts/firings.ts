import { writeFile } from 'node:fs/promises';
import { FASTER, NOT_FIRED, readRules } from './rules.ts';

/** A fired alert. */
export interface Firing {
  alert: string;
  /** The injected fault. */
  broken: string;
  value: number;
  /** From the fault to `firing`, with the shortened rule. */
  seconds: number;
  /** From the removal of the fault to the end of the alert. */
  endedAfterSeconds: number;
}

const rounded = (value: number): string => String(Number(value.toPrecision(3)));

const row = (cells: (string | number)[]): string => `| ${cells.join(' | ')} |`;

/** The firings as a Markdown page, in the order of the rules. */
export function firingsPage(firings: Firing[], date: Date): string {
  const rows = readRules().flatMap(({ alert, for: patience = '0' }) =>
    firings
      .filter(firing => firing.alert === alert)
      .map(({ broken, value, seconds, endedAfterSeconds }) =>
        row([alert, broken, rounded(value), `${rounded(seconds)} s`, `${rounded(endedAfterSeconds)} s`, patience]),
      ),
  );
  return `# Firings

Each alert was triggered by a real fault: PostgreSQL 18 and Valkey 9 in containers, \`serve\` and \`work\` as processes, a real
Prometheus with [alerts.yaml](../../config/prometheus/alerts.yaml). Windows, ages and \`for\` were ${FASTER} times shorter, so that a
minute became a second; 100 waiting jobs represented 10,000, and delays of 2 and 5 s represented 60 and 300; and the ingestion was
checked every second instead of every 30. All other figures are unchanged. \`FIRINGS=docs/runbooks/firings.md npm run test:alerts\` repeats the test and writes this page.

${date.toISOString().slice(0, 10)}:

| Alert | Fault | Value | Fired after | Ended after the fix | \`for\` as shipped |
|---|---|---|---|---|---|
${rows.join('\n')}

Not fired by a fault:

${Object.entries(NOT_FIRED)
  .map(([alert, reason]) => `- ${alert}: ${reason}`)
  .join('\n')}
`;
}

/** Writes the page to the path in `FIRINGS`, if it is set. */
export async function recordFirings(firings: Firing[]): Promise<void> {
  if (process.env.FIRINGS) await writeFile(process.env.FIRINGS, firingsPage(firings, new Date()));
}

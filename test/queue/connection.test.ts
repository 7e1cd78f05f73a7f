import { pino } from 'pino';
import { expect, test } from 'vitest';
import { reportErrors } from '../../src/queue/connection.ts';

test('the jobs that a worker lost to a frozen store are one line in its log, and other errors one each', () => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line).reason) });
  const report = reportErrors(log, 'worker connection');
  for (let id = 1; id <= 20; id++) {
    report(new Error(`Missing lock for job ${id}. moveToFinished`));
    report(new Error(`could not renew lock for job ${id}`));
    report(new Error('Command timed out'));
  }
  expect(lines).toEqual([
    'Missing lock for job 1. moveToFinished',
    'could not renew lock for job 1',
    'Command timed out',
  ]);
});

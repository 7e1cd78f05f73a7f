import { expect, test } from 'vitest';
import { summarizeSql } from '../../src/platform/sql-summary.ts';

test.each([
  ['select * from answers where id = $1', 'SELECT answers'],
  ['select a.id from (select id from "card_records") a', 'SELECT card_records'],
  ["select set_config('parley.tenant', $1, false)", 'SELECT set_config'],
  ['insert into answers (id) values ($1) on conflict (id) do update set state = $2', 'INSERT answers'],
  ['with locked as (select 1 from tenants for update) update totals set stored = $1', 'UPDATE totals'],
  ['select id from answers for update skip locked', 'SELECT answers'],
  ['delete from recorded_flushes where at < $1', 'DELETE recorded_flushes'],
  ['begin', 'BEGIN'],
  ['commit', 'COMMIT'],
  ["set role parley_app; set timezone = 'UTC'", 'SET'],
  ["select 'what a person wrote'", 'SELECT'],
])('%s is summarized as %s', (sql, summary) => {
  expect(summarizeSql(sql)).toBe(summary);
  expect(summarizeSql(sql)).toBe(summary);
});

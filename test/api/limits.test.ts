import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { MAX_BODY_BYTES, MAX_PUBLIC_BODY_BYTES } from '../../src/api/http/body.ts';
import { limitsOf } from '../../src/api/pipeline/limit.ts';
import { NewAnswer, NewAnswers } from '../../src/domain/answers/answers.ts';
import { MAX_ACTIVE_OF_USER } from '../../src/domain/conversations/conversations.ts';
import { NewMessage } from '../../src/domain/conversations/messages.ts';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../src/domain/pages.ts';
import { MAX_LIVE_QUESTIONS, MAX_QUESTIONS, MAX_VERSIONS_A_DAY } from '../../src/domain/questions/questions.ts';
import { MAX_KEYS } from '../../src/domain/team/api-keys.ts';
import { MAX_MEMBERS } from '../../src/domain/team/members.ts';
import { Identity } from '../../src/domain/text.ts';
import { loadConfig } from '../../src/platform/config.ts';

const guide = await readFile(new URL('../../docs/http.md', import.meta.url), 'utf8');

/** Returns the rows of the table in the guide that starts with these heads. */
function readTable(heads: string): string[][] {
  const [, table = ''] = guide.split(`\n${heads}\n`);
  const lines = table.slice(0, table.indexOf('\n\n')).split('\n').slice(1);
  return lines
    .map(line => line.split('|').slice(1, -1))
    .map(cells => cells.map(cell => cell.trim().replaceAll('`', '')));
}

const number = (text: string): number => Number(text.replaceAll(',', ''));

/** The rate limits of an installation with one setting. */
const limitsWith = (setting: string, value: string) =>
  Object.values(limitsOf(loadConfig(setting === '' ? {} : { [setting]: value })));

describe('the rate limits in docs/http.md', () => {
  const rows = readTable('| Policy | Counts | Limit | Seconds | Setting |');
  const documented = rows.map(([policy = '', , limit = '', seconds = '', setting = '']) => ({
    policy,
    limit: number(limit),
    seconds: number(seconds),
    setting,
  }));

  test('are those of the code', () => {
    const policies = limitsWith('', '').map(({ policy }) => policy);
    const expected = documented.map(({ policy, limit, seconds }) => `"${policy}";q=${limit};w=${seconds}`);
    expect(expected.sort()).toEqual(policies.sort());
    for (const { scope, limit, windowSeconds, policy } of limitsWith('', ''))
      expect(policy).toBe(`"${scope}";q=${limit};w=${windowSeconds}`);
  });

  test.each(documented.filter(({ setting }) => setting !== ''))('$policy follows $setting', ({ policy, setting }) => {
    const changed = limitsWith(setting, '7').filter(({ limit }) => limit === 7);
    const ofSetting = documented.filter(row => row.setting === setting).map(row => row.policy);
    expect(changed.map(({ scope }) => scope).sort()).toEqual(ofSetting.sort());
    expect(ofSetting).toContain(policy);
  });
});

describe('the sizes in docs/http.md', () => {
  /** The greatest size that a schema accepts. */
  function greatest(schema: z.ZodType, make: (size: number) => unknown): number {
    const accepts = (size: number) => schema.safeParse(make(size)).success;
    let [low, high] = [1, 20_000];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (accepts(middle)) low = middle;
      else high = middle - 1;
    }
    return low;
  }
  const longest = (schema: z.ZodType) => greatest(schema, size => 'x'.repeat(size));

  test('are those of the code', () => {
    const sizes = {
      'items in a page of a list': `${MAX_LIMIT} (${DEFAULT_LIMIT} by default)`,
      'answers in a batch': greatest(NewAnswers.shape.answers, size => Array(size).fill({})),
      'kilobytes in a request': MAX_BODY_BYTES / 1024,
      'kilobytes in a request with a public access token': MAX_PUBLIC_BODY_BYTES / 1024,
      'characters in an identity': longest(Identity),
      'characters in a message': longest(NewMessage.shape.body),
      'characters in a text answer': greatest(NewAnswer.shape.values, size => ({ main: 'x'.repeat(size) })),
      'characters in the comment of an answer': longest(NewAnswer.shape.comment),
      'API keys of a tenant, without revoked ones': MAX_KEYS,
      'members and open invitations of a tenant': MAX_MEMBERS,
      'questions of a tenant': MAX_QUESTIONS,
      'live questions of a tenant': MAX_LIVE_QUESTIONS,
      'versions of a question in 24 hours': MAX_VERSIONS_A_DAY,
      'open and pending conversations, up to which a user starts others': MAX_ACTIVE_OF_USER,
    };
    const rows = readTable('| At most | |').map(([what, most = '']) => [what, most.replaceAll(',', '')]);
    expect(rows).toEqual(Object.entries(sizes).map(([what, most]) => [what, String(most)]));
  });
});

import { expect, test } from 'vitest';
import { parseOptions } from '../../src/commands/parse-options.ts';
import { NewApiKey } from '../../src/domain/team/api-keys.ts';
import { NewMember } from '../../src/domain/team/members.ts';

const messageOf = (parse: () => unknown): string => {
  try {
    parse();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the options are valid');
};

test('a fault names the option as the command has it, once', () => {
  const scopes = { name: 'x', kind: 'server', scopes: ['one', 'two'] };
  expect(messageOf(() => parseOptions(NewApiKey, scopes))).toMatch(/^--scopes: Must be "conversations:read", .*$/);
  const origins = { name: 'x', kind: 'public', allowed_origins: ['javascript:alert(1)'], expires_at: 'soon' };
  expect(messageOf(() => parseOptions(NewApiKey, origins, { allowed_origins: '--origins' })).split('\n')).toEqual([
    expect.stringMatching(/^--expires-at: Must be an RFC 3339 time/),
    expect.stringMatching(/^--origins: Must be an origin/),
  ]);
  const short = { email: 'ada@example.com', role: 'agent', password: 'short' };
  expect(messageOf(() => parseOptions(NewMember, short, { password: 'The password on standard input' }))).toBe(
    'The password on standard input: Must have at least 12 characters.',
  );
});

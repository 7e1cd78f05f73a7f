import { describe, expect, test } from 'vitest';
import { outerPath, pathIn, pathTo, tenantPath } from '../../dashboard/paths.ts';

test.each([
  ['questions', {}, '/questions'],
  ['question', { id: 'question_1' }, '/questions/question_1/build'],
  ['inbox', {}, '/inbox'],
  ['conversation', { id: 'a/b' }, '/inbox/all/a%2Fb'],
  ['identity', { identity: 'user|42' }, '/people/user%7C42'],
  ['me', {}, '~/dashboard/me'],
  ['start', {}, '~/dashboard/'],
] as const)('the path of %s is filled in', (name, params, path) => {
  expect(pathTo(name, params)).toBe(path);
});

test('the path in a tenant is absolute', () => {
  expect(pathIn('tenant_1', pathTo('questions'))).toBe('~/dashboard/t/tenant_1/questions');
});

describe('the successor of a path', () => {
  test.each([
    ['/home', '/home'],
    ['/questions', '/questions'],
    ['/questions/new', '/questions/new'],
    ['/questions/question_1', '/questions/question_1/build'],
    ['/questions/question_1/results', '/questions/question_1/results'],
    ['/inbox', '/inbox'],
    ['/inbox/conversation_1', '/inbox/conversation_1'],
    ['/people/a%2Fb', '/people/a%2Fb'],
    ['/ingestion', '/data'],
    ['/settings', '/settings/general'],
    ['/nowhere', undefined],
    ['/questions/', undefined],
    ['/inbox/a/b/c', undefined],
  ])('of %s is %s', (path, successor) => {
    expect(tenantPath(path)).toBe(successor);
  });

  test('of the former security settings is the own account', () => {
    expect(outerPath('/settings/security')).toBe('/me');
    expect(outerPath('/settings/general')).toBeUndefined();
  });
});

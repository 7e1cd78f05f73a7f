import { expect, test } from 'vitest';
import { splitLinks } from '../../dashboard/pages/inbox/links.ts';
import { leastMs } from '../support/least-ms.ts';

const linksIn = (text: string) => splitLinks(text).flatMap(({ href }) => href ?? []);

test.each([
  ['see https://a.example/x?y=1#z now', ['https://a.example/x?y=1#z']],
  ['http://a.example, https://b.example.', ['http://a.example', 'https://b.example']],
  ['(https://a.example/b)', ['https://a.example/b']],
  ['https://a.example/b_(c) and [https://d.example]', ['https://a.example/b_(c)', 'https://d.example']],
  ['“https://a.example/ä?ö=ü”', ['https://a.example/ä?ö=ü”']],
  ['HTTPS://A.example', ['HTTPS://A.example']],
  ['https://[::1]:3000/x', ['https://[::1]:3000/x']],
  ['javascript:alert(1) data:text/html,x ftp://a.example file:///etc/passwd', []],
  ['https:// http://? https://!', []],
  ['<a href="https://a.example" onclick="x()">', ['https://a.example']],
  ['no address', []],
])('the links in %j are %j', (text, links) => {
  expect(linksIn(text)).toEqual(links);
});

test('the parts together are the text', () => {
  for (const text of ['', 'a', 'https://a.example', 'x https://a.example. y (https://b.example) z'])
    expect(
      splitLinks(text)
        .map(part => part.text)
        .join(''),
    ).toBe(text);
});

test('a long hostile text is split in time', () => {
  const split = () => {
    splitLinks('https://a.example/'.padEnd(10_000, '('));
    splitLinks(`https://a.example/${')'.repeat(9000)}`);
  };
  expect(leastMs(split)).toBeLessThan(500);
});

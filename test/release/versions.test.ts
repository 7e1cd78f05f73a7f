import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOwner } from '../../release/owner.ts';
import { pin, unpinned } from '../../release/pin-bases.ts';
import { changelogOf, clientVersions, requireSame, serverVersions } from '../../release/versions.ts';

test('all places that state the version of the server, and of each client, agree', () => {
  const [first, ...others] = serverVersions();
  expect(others.length).toBeGreaterThan(6);
  expect(() => requireSame('The version', first?.version, others)).not.toThrow();
  for (const [name, stated] of Object.entries(clientVersions()))
    expect(() => requireSame(name, stated[0]?.version, stated)).not.toThrow();
});

test('a place that differs, or states no version, is named', () => {
  const stated = [
    { where: 'a', version: '1.0.0' },
    { where: 'b', version: '1.0.1' },
    { where: 'c', version: undefined },
  ];
  expect(() => requireSame('The version', '1.0.0', stated)).toThrow(
    'The version is 1.0.0, but b has 1.0.1, c has none.',
  );
  expect(() => requireSame('The version', undefined, [])).not.toThrow();
});

test('a release needs a section with text in the changelog', () => {
  const changelog = '# Changelog\n\n## [Unreleased]\n\n- x\n\n## [0.2.0] - 2026-12-01\n\n- new\n\n## [0.1.0]\n\n';
  expect(changelogOf('0.2.0', changelog)).toBe('- new');
  expect(() => changelogOf('0.1.0', changelog)).toThrow('no section [0.1.0]');
  expect(() => changelogOf('0.3.0', changelog)).toThrow('no section [0.3.0]');
});

test('an owner without a name is refused, with the names of the empty values', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'parley-owner-')), 'owner.yaml');
  writeFileSync(file, 'name: ""\nsecurity_contact: x@example.com\nhome: " "\nsource:\n');
  expect(() => readOwner(file)).toThrow('has no name, home, source');
  const owner = {
    name: 'A',
    security_contact: 'x@example.com',
    home: 'https://example.com',
    source: 'https://example.com/git',
  };
  writeFileSync(file, JSON.stringify(owner));
  expect(readOwner(file)).toEqual(owner);
});

test('base images are pinned by digest next to their tag, and stages and arguments stay', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const dockerfile = 'ARG X=x:1\nFROM $X AS x\nFROM node:24-slim AS pages\nCOPY --from=pages a b\nFROM node:24-slim\n';
  expect(unpinned(dockerfile)).toEqual(['node:24-slim']);
  const pinned = pin(dockerfile, name => (name === 'node:24-slim' ? digest : 'wrong'));
  expect(pinned).toBe(dockerfile.replaceAll('node:24-slim', `node:24-slim@${digest}`));
  expect(unpinned(pinned)).toEqual([]);
  const newer = `sha256:${'b'.repeat(64)}`;
  expect(pin(pinned, () => newer)).toContain(`FROM node:24-slim@${newer} AS pages`);
});

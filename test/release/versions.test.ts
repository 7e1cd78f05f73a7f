import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOwner } from '../../release/owner.ts';
import { pin, unpinned } from '../../release/pin-bases.ts';
import {
  changelogOf,
  clientVersions,
  closeUnreleased,
  requireNothingUnreleased,
  requireSame,
  serverVersions,
} from '../../release/versions.ts';

test('all places that state the version of the server, and of each client, agree', () => {
  const [first, ...others] = serverVersions();
  expect(others.length).toBeGreaterThan(12);
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

test('changes under no version are refused, and moved to the section of the version', () => {
  const unreleased = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- b\n\n### Fixed\n\n- c\n  more\n\n';
  const old = '## [0.1.0] - 2026-11-01\n\n- first\n';
  expect(() => requireNothingUnreleased('0.2.0', unreleased + old)).toThrow('changes under [Unreleased]');
  const closed = closeUnreleased(unreleased + old, '0.2.0', '2026-12-01');
  const heads = '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n';
  expect(closed).toBe(`${heads}### Added\n\n- b\n\n### Fixed\n\n- c\n  more\n\n${old}`);
  expect(() => requireNothingUnreleased('0.2.0', closed)).not.toThrow();
  expect(closeUnreleased(closed, '0.2.0', '2026-12-01')).toBe(closed);
});

test('a section that was written before the release gets the later changes, each under its heading', () => {
  const changelog =
    '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- b\n\n### Changed\n\n- d\n\n## [0.2.0] - 2026-11-01\n\nTo update: x.\n\n### Added\n\n- a\n\n- a2\n\n### Fixed\n\n- c\n\n## [0.1.0]\n\n- first\n';
  expect(closeUnreleased(changelog, '0.2.0', '2026-12-01')).toBe(
    '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\nTo update: x.\n\n### Added\n\n- a\n\n- a2\n- b\n\n### Fixed\n\n- c\n\n### Changed\n\n- d\n\n## [0.1.0]\n\n- first\n',
  );
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

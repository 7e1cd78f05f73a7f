import { expect, test } from 'vitest';
import { compareVersions, parseVersion, type Version } from '../../../src/domain/rules/semver.ts';

const versionOf = (text: string) => parseVersion(text) as Version;

test('versions are in the order of Semantic Versioning', () => {
  const ordered = ['0.9.10', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta', '1.0.0-beta.2'];
  ordered.push('1.0.0-beta.11', '1.0.0-rc.1', '1.0.0', '1.0.1', '1.2.0', '1.10.0', '2.0.0');
  for (const [index, one] of ordered.entries())
    for (const [place, other] of ordered.entries())
      expect([one, other, Math.sign(compareVersions(versionOf(one), versionOf(other)))]).toEqual([
        one,
        other,
        Math.sign(index - place),
      ]);
});

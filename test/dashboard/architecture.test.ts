import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cycles, filesUnder, type Import, importsOf, packageOf, ROOT, type Source, SRC } from '../support/modules.ts';

/** The modules of the service. */
const service: Source[] = filesUnder(SRC).map(path => ({ path, text: readFileSync(join(SRC, path), 'utf8') }));

/** The imports of a fictitious module. */
const madeUp = (path: string, text: string): Import[] => importsOf({ path, text });

/** The packages that the dashboard's browser modules may import. */
const BROWSER_PACKAGES = [
  '@lingui/core',
  '@tanstack/react-query',
  'chart.js',
  'qr',
  'react',
  'react-aria-components',
  'react-dom',
  'react-hook-form',
  'wouter',
];

/** Modules of the dashboard that run on Node, and build output. */
const ON_NODE = /^(built.*|build\.ts|generate-types\.ts|screenshots\/.*|vite\.config\.ts)$/;

const readDashboard = (): Source[] =>
  readdirSync(join(ROOT, 'dashboard'), { recursive: true, encoding: 'utf8' })
    .filter(path => /\.tsx?$/.test(path) && !ON_NODE.test(path))
    .map(path => ({ path: `../dashboard/${path}`, text: readFileSync(join(ROOT, 'dashboard', path), 'utf8') }));

/** The preview imports the card view of the JavaScript client. */
const showsClient = ({ from, to }: Import): boolean =>
  from.startsWith('../dashboard/components/card/') && to.startsWith('../clients/javascript/src/');

/** Modules and packages that the pages may not import: those of the service and those not made for browsers. */
const strangersOf = (found: Import[]): string[] =>
  found
    .filter(found =>
      found.isOurs
        ? !found.to.startsWith('../dashboard/') && !showsClient(found)
        : !found.to.startsWith('virtual:') && !BROWSER_PACKAGES.includes(packageOf(found.to)),
    )
    .map(({ from, to }) => `${from} → ${to}`);

describe('the dashboard', () => {
  // A snippet is text for users; its imports are theirs.
  const pages = readDashboard().filter(({ path }) => !path.endsWith('/snippets.ts'));

  test('imports only itself and packages for browsers', () => {
    expect(pages.length).toBeGreaterThan(40);
    expect(strangersOf(pages.flatMap(importsOf))).toEqual([]);
    expect(strangersOf(madeUp('../dashboard/x.ts', "import { ids } from '../src/domain/ids.ts';"))).toHaveLength(1);
    expect(strangersOf(madeUp('../dashboard/x.ts', "import { z } from 'zod';"))).toHaveLength(1);
    const client = "import { createClient } from '../../../clients/javascript/src/index.ts';";
    expect(strangersOf(madeUp('../dashboard/components/card/x.ts', client))).toEqual([]);
    expect(strangersOf(madeUp('../dashboard/pages/inbox/x.ts', client))).toHaveLength(1);
  });

  test('adds no package to the service', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(BROWSER_PACKAGES.filter(name => !(name in devDependencies))).toEqual([]);
    expect(service.flatMap(importsOf).filter(({ to }) => BROWSER_PACKAGES.includes(packageOf(to)))).toEqual([]);
  });

  test('has no import cycles', () => {
    expect(cycles(pages.flatMap(importsOf))).toEqual([]);
  });

  test('creates no markup from text', () => {
    const making = /dangerouslySetInnerHTML|\b(inner|outer)HTML\b|insertAdjacentHTML|document\.write/;
    expect(pages.filter(({ text }) => making.test(text)).map(({ path }) => path)).toEqual([]);
  });
});

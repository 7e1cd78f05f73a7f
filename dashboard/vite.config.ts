import { readFileSync } from 'node:fs';
import { compileMessage } from '@lingui/message-utils/compileMessage';
import type { InlineConfig, Plugin } from 'vite';

const ROOT = import.meta.dirname;
const PREFIX = 'virtual:messages/';

/** Whether a compiled message is its key: a text without parameters. */
const isKey = ([key, compiled]: [string, unknown]): boolean =>
  Array.isArray(compiled) && compiled.length === 1 && compiled[0] === key;

/** Compiles the messages of a language. The English texts are the keys, and those without parameters are left out. */
export function compiledMessages(locale: string): Record<string, unknown> {
  const german = JSON.parse(readFileSync(`${ROOT}/locales/de.json`, 'utf8')) as Record<string, string>;
  const texts = Object.entries(german).map(([key, text]) => [key, locale === 'en' ? key : text] as const);
  const compiled = texts.map(([key, text]): [string, unknown] => [key, compileMessage(text)]);
  return Object.fromEntries(compiled.filter(message => !isKey(message)));
}

/** Provides `virtual:messages/<locale>`, compiled at build time. */
const messages = (): Plugin => ({
  name: 'messages',
  resolveId: id => (id.startsWith(PREFIX) ? `\0${id}` : undefined),
  load(id) {
    if (!id.startsWith(`\0${PREFIX}`)) return undefined;
    this.addWatchFile(`${ROOT}/locales/de.json`);
    return `export const messages = ${JSON.stringify(compiledMessages(id.slice(PREFIX.length + 1)))};`;
  },
});

/** Ignores warnings about the `use client` directives of libraries. */
const isRelevant = (code: string | undefined): boolean => code !== 'MODULE_LEVEL_DIRECTIVE';

/** Vite configuration. Scripts and styles are separate files, as the CSP requires. */
export const viteConfig = (outDir: string): InlineConfig => ({
  configFile: false,
  root: ROOT,
  base: '/dashboard/',
  plugins: [messages()],
  logLevel: 'warn',
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    cssCodeSplit: true,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { onLog: (level, log, report) => isRelevant(log.code) && report(level, log) },
  },
});

import { readFileSync } from 'node:fs';
import { compileMessage } from '@lingui/message-utils/compileMessage';
import type { InlineConfig, Plugin } from 'vite';

const ROOT = import.meta.dirname;
const PREFIX = 'virtual:messages/';

/** The messages of a language, compiled. In English a key is its own text. */
export function compiledMessages(locale: string): Record<string, unknown> {
  const german = JSON.parse(readFileSync(`${ROOT}/locales/de.json`, 'utf8')) as Record<string, string>;
  const texts = Object.entries(german).map(([key, text]) => [key, locale === 'en' ? key : text] as const);
  return Object.fromEntries(texts.map(([key, text]) => [key, compileMessage(text)]));
}

/** Gives `virtual:messages/<locale>`, so that no compiler of messages is sent to the browser. */
const messages = (): Plugin => ({
  name: 'messages',
  resolveId: id => (id.startsWith(PREFIX) ? `\0${id}` : undefined),
  load(id) {
    if (!id.startsWith(`\0${PREFIX}`)) return undefined;
    this.addWatchFile(`${ROOT}/locales/de.json`);
    return `export const messages = ${JSON.stringify(compiledMessages(id.slice(PREFIX.length + 1)))};`;
  },
});

/** Libraries mark their parts for servers that render pages, of which there is none here. */
const isTelling = (code: string | undefined): boolean => code !== 'MODULE_LEVEL_DIRECTIVE';

/** How the pages are built: scripts and styles in files of their own, which the security policy demands. */
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
    rolldownOptions: { onLog: (level, log, report) => isTelling(log.code) && report(level, log) },
  },
});

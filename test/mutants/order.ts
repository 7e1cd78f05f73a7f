import { basename } from 'node:path';
import type { Calls, FileCalls } from './calls.ts';
import type { Fault } from './operators.ts';

/** The words of a text from four letters on, without the endings that English adds to them. */
const wordsOf = (text: string): Set<string> =>
  new Set(
    (text.match(/[A-Z]?[a-z]{3,}|[A-Z]{4,}/g) ?? []).map(word => word.toLowerCase().replace(/(?:s|ed|ing)$/, '')),
  );

/** The changed lines with the line before and after them, and the module's name. */
function surroundings({ path, start, end }: Fault, module: string): string {
  const lineBefore = module.lastIndexOf('\n', module.lastIndexOf('\n', start) - 1);
  const lineAfter = module.indexOf('\n', module.indexOf('\n', end) + 1);
  return `${basename(path)} ${module.slice(lineBefore + 1, lineAfter < 0 ? undefined : lineAfter)}`;
}

const isNamedAs = (file: string, { path }: Fault): boolean => {
  const [module, test] = [path, file].map(each => basename(each).split('.')[0] as string) as [string, string];
  return module.startsWith(test) || test.startsWith(module);
};

/**
 * Returns a function that returns the test files that run faulty code, in the order in which to try them: those named as
 * the module, then those that share the most words with the changed lines, of which rare words count more. Slow checks of
 * processes are last.
 */
export function createOrder(calls: Calls, testFiles: ReadonlyMap<string, string>) {
  const words = new Map([...testFiles].map(([file, text]) => [file, wordsOf(text)]));
  const spread = new Map<string, number>();
  for (const each of words.values()) for (const word of each) spread.set(word, (spread.get(word) ?? 0) + 1);
  const weightOf = (word: string): number => Math.log(words.size / (spread.get(word) ?? words.size));

  const runs = ({ within, path }: Fault, { calls: called, fails }: FileCalls) =>
    !fails && (within ? called[path]?.includes(within) : called[path]);

  return (fault: Fault, module: string): string[] => {
    const wanted = [...wordsOf(surroundings(fault, module))];
    const shared = (file: string) =>
      wanted.reduce((sum, word) => sum + (words.get(file)?.has(word) ? weightOf(word) : 0), 0);
    return Object.entries(calls)
      .filter(([, file]) => runs(fault, file))
      .map(([file, { durationMs }]) => ({
        file,
        durationMs,
        last: Number(file.endsWith('.check.ts')),
        other: Number(!isNamedAs(file, fault)),
        shared: shared(file),
      }))
      .sort((a, b) => a.last - b.last || a.other - b.other || b.shared - a.shared || a.durationMs - b.durationMs)
      .map(({ file }) => file);
  };
}

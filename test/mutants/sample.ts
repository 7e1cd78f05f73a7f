import { createRandom, type Random } from '../faults/random.ts';
import { type Fault, faultsOf, statesOf } from './operators.ts';

export interface Module {
  /** From the repository's top folder. */
  path: string;
  text: string;
}

/** Returns the folder below `src` by which faults are counted; the executable is a folder of its own. */
export const folderOf = (path: string): string => path.split('/')[1] as string;

const lineCount = ({ text }: Module): number => text.split('\n').length;

/** Returns one of the items, each with a probability proportional to its weight. */
function pickWeighted<T>(random: Random, items: T[], weight: (item: T) => number): T {
  const total = items.reduce((sum, item) => sum + weight(item), 0);
  let left = random.between(0, total);
  for (const item of items) {
    left -= weight(item);
    if (left < 0) return item;
  }
  return items.at(-1) as T;
}

/**
 * Returns a sample of faults. The same seed and source yield the same faults.
 *
 * A module is chosen by its number of lines, then one of the operators that apply to it, then a place: otherwise the
 * commonest operator would make up most of the sample.  Faults for which `isKnown` returns true, since they cannot change
 * behaviour, are replaced by others; the rest of the sample stays the same.
 */
export function sampleFaults(
  modules: Module[],
  seed: number,
  count: number,
  isKnown: (fault: Fault) => boolean,
): Fault[] {
  const random = createRandom(seed);
  const states = statesOf(modules);
  const left = modules
    .map(module => ({
      lines: lineCount(module),
      faults: faultsOf(module.path, module.text, states),
    }))
    .filter(({ faults }) => faults.length > 0);
  const chosen: Fault[] = [];
  while (chosen.length < count && left.length > 0) {
    const module = pickWeighted(random, left, ({ lines }) => lines);
    const operator = random.pick([...new Set(module.faults.map(fault => fault.operator))]);
    const fault = random.pick(module.faults.filter(each => each.operator === operator));
    if (!isKnown(fault)) chosen.push(fault);
    module.faults = module.faults.filter(each => each.start >= fault.end || each.end <= fault.start);
    if (module.faults.length === 0) left.splice(left.indexOf(module), 1);
  }
  return chosen;
}

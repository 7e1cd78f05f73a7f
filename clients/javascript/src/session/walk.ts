import type { CardStep } from '../types.ts';
import { type Content, contentOf, type End, type Entered, faultsIn, shownIn } from './content.ts';
import { plainValues } from './digits.ts';
import { emptyValueOf, type Fault } from './rules.ts';

/** The way through a card, one step after another. */
export interface Walk {
  /** The shown steps, in order. */
  steps(): CardStep[];
  /** Index of the current step among them. If a change hides it, the one before it is current. */
  index(): number;
  /** Goes to the next step; undefined after the last one. */
  next(): CardStep | undefined;
  /** Goes to the previous step; undefined at the first one. */
  back(): CardStep | undefined;
  /** Goes through all steps that are left. */
  finish(): void;
  /** Faults of the shown steps. */
  faults(): Fault[];
  content(end?: End): Content;
  /** The position, from which a later walk goes on. */
  position(): Position;
}

/** A position in a card: keys of the current step and of those gone through. */
export interface Position {
  step: string;
  passed: string[];
}

/** Starts at the first step or where an earlier walk ended; `read` returns the input in all steps, shown or not. */
export function createWalk(steps: CardStep[], read: () => Entered, from?: Position): Walk {
  /** Steps that the user has gone through: without input they have their empty value. */
  const passed = new Set(steps.filter(({ key }) => from?.passed.includes(key)));
  let current = Math.max(
    0,
    steps.findIndex(({ key }) => key === from?.step),
  );

  const entered = (): Entered => {
    const { values, comment } = read();
    const filled = [...passed].map(step => [step.key, values[step.key] ?? emptyValueOf(step)]);
    return { values: plainValues(steps, { ...values, ...Object.fromEntries(filled) }), comment };
  };
  const shown = () => shownIn(steps, entered());
  const index = () => shown().filter(step => steps.indexOf(step) <= current).length - 1;
  const move = (distance: number): CardStep | undefined => {
    const step = shown()[index() + distance];
    if (step) current = steps.indexOf(step);
    return step;
  };
  return {
    steps: shown,
    index,
    next() {
      passed.add(shown()[index()] as CardStep);
      return move(1);
    },
    back: () => move(-1),
    finish() {
      for (const step of steps) passed.add(step);
    },
    faults: () => faultsIn(steps, entered()),
    content: end => contentOf(steps, entered(), end),
    position: () => ({ step: (steps[current] as CardStep).key, passed: [...passed].map(({ key }) => key) }),
  };
}

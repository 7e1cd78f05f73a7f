import { textsFor } from '../../../clients/javascript/src/feedback/texts.ts';

type Control = HTMLInputElement | HTMLTextAreaElement;

/** The input of one control. */
interface Given {
  name: string;
  value: string;
  checked: boolean;
}

/** Where a viewer stands in a card. */
interface Place {
  /** The key of the displayed step, and its position. */
  step: string;
  at: number;
  /** The input of each step by key. */
  given: Map<string, Given[]>;
  /** Whether the viewer has sent the card, so that the thanks are displayed. */
  isSent: boolean;
}

/** Where a viewer stands in the views of a card that follow each other while its content is edited. */
export interface CardPlace {
  /** Follows the viewer in a view. */
  follow(view: ShadowRoot): void;
  /** Leads a new view, once it displays its card, to the place in the one before it. The focus stays where it is. */
  resume(view: ShadowRoot, language: string): void;
  /** Lets the next view start at the first step. */
  forget(): void;
}

const stepsIn = (view: ParentNode) => [...view.querySelectorAll<HTMLFieldSetElement>('[part=step]')];
const controlsOf = (step: ParentNode) => [...step.querySelectorAll<Control>('input, textarea')];
/** A step without controls has its key only here. */
const keyOf = (step: ParentNode) => step.querySelector('[part=error]')?.id.replace(/-error$/, '') ?? '';
const shownIn = (view: ParentNode) => stepsIn(view).findIndex(step => !step.hidden);
/** The comment, which is outside of the steps. */
const commentOf = (view: ParentNode) => view.querySelector<HTMLTextAreaElement>('#comment');

const nameOf = (control: Control): string => control.ariaLabel ?? control.closest('label')?.textContent ?? '';

const readControl = (control: Control): Given => ({
  name: nameOf(control),
  value: control.value,
  checked: 'checked' in control && control.checked,
});

/** The comment is kept under a key that no step has. */
const COMMENT = '';

function readPlace(view: ParentNode): Place | undefined {
  const [steps, comment] = [stepsIn(view), commentOf(view)];
  const at = shownIn(view);
  const step = steps[at];
  if (!step) return undefined;
  const given = new Map(steps.map(each => [keyOf(each), controlsOf(each).map(readControl)]));
  if (comment) given.set(COMMENT, [readControl(comment)]);
  return { step: keyOf(step), at, given, isSent: false };
}

/** Controls are recognized by name, as options may have moved, or else by position, as the name may have been edited. */
function writeControls(controls: Control[], given: Given[] = []): void {
  for (const [at, control] of controls.entries()) {
    const known = given.find(({ name }) => name === nameOf(control)) ?? given[at];
    if (!known) continue;
    if ('checked' in control && /^(radio|checkbox)$/.test(control.type)) control.checked = known.checked;
    else control.value = known.value;
  }
}

/** Enters the input again, and goes on step by step as far as the edited conditions allow. */
function goTo(place: Place, view: ParentNode, language: string): void {
  const form = view.querySelector('form');
  if (!form) return;
  const steps = stepsIn(view);
  for (const step of steps) writeControls(controlsOf(step), place.given.get(keyOf(step)));
  const comment = commentOf(view);
  if (comment) writeControls([comment], place.given.get(COMMENT));
  form.dispatchEvent(new Event('input')); // the view decides which steps follow
  const sameStep = steps.findIndex(step => keyOf(step) === place.step);
  const target = sameStep < 0 ? place.at : sameStep;
  const submit = view.querySelector<HTMLButtonElement>('[part~=submit]');
  const isLast = () => submit?.textContent !== textsFor(language).texts.next;
  for (let at = shownIn(view); place.isSent || (at < target && !isLast()); at = shownIn(view)) {
    submit?.click();
    if (shownIn(view) === at) return; // a value is missing, or the card is sent
  }
}

/** Starts without a place. */
export function createCardPlace(): CardPlace {
  let place: Place | undefined;
  const resumed = new WeakSet<ShadowRoot>();
  let isMoving = false;
  return {
    follow(view) {
      const read = () => {
        if (!isMoving) place = readPlace(view) ?? place;
      };
      for (const type of ['input', 'click']) view.addEventListener(type, read);
    },
    resume(view, language) {
      const host = view.host as HTMLElement;
      if (host.dataset.state === 'thanks' && place) place.isSent = true;
      if (host.dataset.state !== 'card' || resumed.has(view)) return;
      resumed.add(view);
      if (!place) return;
      isMoving = true;
      host.inert = true; // keeps the focus in the form that is being edited
      goTo(place, view, language);
      host.inert = false;
      isMoving = false;
    },
    forget() {
      place = undefined;
    },
  };
}

import type { Entered } from '../session/content.ts';
import { plainDigits } from '../session/digits.ts';
import { type Fault, isScored } from '../session/rules.ts';
import type { AnswerValue, Card, CardStep } from '../types.ts';
import { button, element, isFirst } from './dom.ts';
import { INPUTS } from './inputs.ts';
import { say, type Texts } from './texts.ts';

/** Time in milliseconds within which a 0 after a 1 is the 10 of a scale. */
const TEN_MS = 1000;

interface Field {
  step: CardStep;
  node: HTMLElement;
  /** Current value, valid or not; undefined if empty. */
  read(): AnswerValue | undefined;
  /** Shows a fault, or removes its message; returns the control to correct it. */
  mark(fault: Fault | undefined): HTMLElement | undefined;
  input(): FieldInput;
  restore(input: FieldInput | undefined): void;
}

/** The raw input of a step: values of the checked boxes, and the content of the field. */
type FieldInput = [checked: string[], text: string];

/** The raw input of a card, valid or not. */
export interface FormInput {
  /** By step key. */
  fields: Record<string, FieldInput>;
  comment: string;
}

function messageOf({ code, limit = 0 }: Fault, { config }: CardStep, texts: Texts): string {
  const name = code === 'invalid' ? config.input : code;
  return say(texts[name as keyof Texts] ?? `${texts.otherText}.`, limit);
}

const renderOptional = (texts: Texts) => element('span.optional', {}, ` (${texts.optional})`);

const renderError = (name: string) => element('p.error', { id: `${name}-error`, role: 'alert' });

/** Shows a message about an input. An equal one is not announced again. */
function showMessage(error: Element, field: Element | null, message: string): void {
  if (error.textContent !== message) error.textContent = message;
  field?.setAttribute('aria-invalid', `${message !== ''}`);
}

/** Selects the point of a scale with the value of a typed digit. */
function watchDigits(node: HTMLElement): void {
  const pointOf = (value: string) => node.querySelector<HTMLInputElement>(`.point [value="${value}"]`);
  /** When a 1 was typed. */
  let oneAt = Number.NEGATIVE_INFINITY;
  node.addEventListener('keydown', ({ key: typed, ctrlKey, metaKey, altKey, timeStamp }) => {
    const key = plainDigits(typed);
    if (ctrlKey || metaKey || altKey || !/^\d$/.test(key)) return;
    const ten = key === '0' && timeStamp - oneAt < TEN_MS && pointOf('10');
    const point = ten || pointOf(key);
    oneAt = key === '1' ? timeStamp : Number.NEGATIVE_INFINITY;
    point?.focus();
    point?.click();
  });
}

/** A step with title, description and error message. */
function renderField(step: CardStep, { id, locale }: Card, texts: Texts): Field {
  const { key, type, title, description, required } = step;
  const { render, read } = INPUTS[type];
  const heading = element('h2.title', { tabindex: -1, 'aria-describedby': 'progress' }, title);
  const isOptional = !required && type !== 'statement';
  const error = renderError(key);
  const node = element(
    'fieldset.step',
    { lang: locale },
    element('legend', {}, heading, isOptional && renderOptional(texts)),
    element('p.description', { id: `${key}-description` }, description),
    ...render(step, texts, id + key),
    error,
  );
  const field = node.querySelector<HTMLInputElement>('.input');
  const controls = [...node.querySelectorAll<HTMLInputElement>('input, textarea')];
  for (const control of controls) {
    control.setAttribute('name', key);
    control.setAttribute('aria-describedby', `${key}-description ${key}-error`);
  }
  watchDigits(node);
  const input = (): FieldInput => [
    controls.filter(({ checked }) => checked).map(({ value }) => value),
    field?.value ?? '',
  ];
  return {
    step,
    node,
    read: () => read(...input()),
    mark(fault) {
      showMessage(error, field, fault ? messageOf(fault, step, texts) : '');
      return (fault?.code === 'too-long' && field) || controls[0];
    },
    input,
    restore([checked, text] = [[], '']) {
      for (const control of controls) if (control !== field) control.checked = checked.includes(control.value);
      if (field) field.value = text;
    },
  };
}

/** The form of a card, which shows one step at a time. */
export interface CardForm {
  node: HTMLFormElement;
  /** The input in all steps, shown or not. */
  read(): Entered;
  /** Shows the step at an index of the steps that the input shows. */
  show(steps: CardStep[], index: number): void;
  /** Shows the fault of the shown step, if it has one; returns the control to correct it. */
  mark(faults: Fault[]): HTMLElement | undefined;
  input(): FormInput;
  restore(input: FormInput): void;
  /** Moves the focus to the heading of the shown step. */
  focus(): void;
}

/** Renders the form of a card. */
export function renderForm(
  card: Card,
  texts: Texts,
  { onSubmit, onBack, onDismiss }: { onSubmit(): void; onBack(): void; onDismiss(): void },
): CardForm {
  const { steps } = card;
  const fields = steps.map(step => renderField(step, card, texts));
  let shown = fields[0] as Field;
  const comment = element('textarea.input', { id: 'comment', 'aria-describedby': 'comment-error' });
  const commentLabel = element('label.label', { for: 'comment' }, texts.comment, renderOptional(texts));
  const commentError = renderError('comment');
  const more = element('div.comment', {}, commentLabel, comment, commentError);
  const isStatement = steps.every(({ type }) => type === 'statement');
  const progress = element('p.progress', { id: 'progress' });
  const submit = element('button.button submit');
  const back = button('back', texts.back, onBack);
  // Enter clicks it too. The form itself is never submitted, which a sandboxed frame may forbid.
  submit.onclick = event => {
    if (isFirst(event)) onSubmit();
    return false;
  };
  const node = element(
    'form.card',
    {},
    progress,
    ...fields.flatMap(({ step, node }) => (step.key === 'main' && isScored(step) ? [node, more] : [node])),
    element('div.gap'), // keeps the actions, which stay in view, below the title
    element('div.actions', {}, submit, back, !isStatement && button('dismiss', texts.dismiss, onDismiss)),
  );
  return {
    node,
    read: () => ({
      values: Object.fromEntries(fields.map(({ step, read }) => [step.key, read()])),
      comment: comment.value,
    }),
    show(present, index) {
      for (const field of fields) {
        field.node.hidden = field.step !== present[index];
        if (!field.node.hidden) shown = field;
      }
      // Once a point is selected. Not by the styles: WebKit does not draw it after `:not(:has(:checked)) + …` ends.
      more.hidden = shown.step.key !== 'main' || shown.read() === undefined;
      back.hidden = index === 0;
      const count = present.length;
      progress.textContent = count === 1 ? '' : say(texts.progress, index + 1, count);
      submit.textContent = index + 1 < count ? texts.next : isStatement ? texts.acknowledge : texts.send;
    },
    mark(faults) {
      const fault = faults.find(({ step }) => step === shown.step.key);
      const isInComment = fault?.code === 'too-long' && isScored(shown.step);
      const control = shown.mark(isInComment ? undefined : fault);
      showMessage(commentError, comment, isInComment ? messageOf(fault, shown.step, texts) : '');
      return fault && (isInComment ? comment : control);
    },
    input: () => ({
      fields: Object.fromEntries(fields.map(({ step, input }) => [step.key, input()])),
      comment: comment.value,
    }),
    restore(input) {
      for (const { step, restore } of fields) restore(input.fields[step.key]);
      comment.value = input.comment;
    },
    focus: () => shown.node.querySelector('h2')?.focus(),
  };
}

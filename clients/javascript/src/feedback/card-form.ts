import type { Entered } from '../session/content.ts';
import { type Fault, isScored } from '../session/rules.ts';
import type { AnswerValue, Card, CardStep } from '../types.ts';
import { button, element, isFirst } from './dom.ts';
import { INPUTS } from './inputs.ts';
import { say, type Texts } from './texts.ts';

interface Field {
  step: CardStep;
  node: HTMLElement;
  /** Current value, valid or not; undefined if empty. */
  read(): AnswerValue | undefined;
  showFault(fault: Fault | undefined): void;
}

function messageOf({ code, limit = 0 }: Fault, { config }: CardStep, texts: Texts): string {
  const name = code === 'invalid' ? config.input : code;
  return say(texts[name as keyof Texts] ?? `${texts.otherText}.`, limit);
}

const renderOptional = (texts: Texts) => element('span.optional', {}, ` (${texts.optional})`);

/** A step with title, description and error message. */
function renderField(step: CardStep, locale: string, texts: Texts): Field {
  const { key, type, title, description, required } = step;
  const { render, read } = INPUTS[type];
  const heading = element('h2.title', { tabindex: -1, 'aria-describedby': 'progress' }, title);
  const isOptional = !required && type !== 'statement';
  const error = element('p.error', { id: `${key}-error`, role: 'alert' });
  const node = element(
    'fieldset.step',
    { lang: locale },
    element('legend', {}, heading, isOptional && renderOptional(texts)),
    element('p.description', { id: `${key}-description` }, description),
    ...render(step, texts),
    error,
  );
  const controls = [...node.querySelectorAll<HTMLInputElement>('input, textarea')];
  for (const control of controls) {
    control.setAttribute('name', key);
    control.setAttribute('aria-describedby', `${key}-description ${key}-error`);
  }
  // A digit selects the point of a scale with that value.
  node.addEventListener('keydown', ({ key, ctrlKey, metaKey, altKey }) => {
    if (ctrlKey || metaKey || altKey) return;
    const radio = node.querySelector<HTMLInputElement>(`.point [value="${CSS.escape(key)}"]`);
    radio?.focus();
    radio?.click();
  });
  return {
    step,
    node,
    read: () =>
      read(
        controls.filter(({ checked }) => checked).map(({ value }) => value),
        node.querySelector<HTMLInputElement>('.input')?.value ?? '',
      ),
    showFault(fault) {
      error.textContent = fault ? messageOf(fault, step, texts) : '';
      if (fault) controls[0]?.focus();
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
  /** Shows the fault of the shown step, if it has one; returns whether it has. */
  showFault(faults: Fault[]): boolean;
  /** Moves the focus to the heading of the shown step. */
  focus(): void;
}

/** Renders the form of a card. */
export function renderForm(
  { steps, locale }: Card,
  texts: Texts,
  { onSubmit, onBack, onDismiss }: { onSubmit(): void; onBack(): void; onDismiss(): void },
): CardForm {
  const fields = steps.map(step => renderField(step, locale, texts));
  let shown = fields[0] as Field;
  const comment = element('textarea.input', { id: 'comment', maxlength: 5000 });
  const commentLabel = element('label.label', { for: 'comment' }, texts.comment, renderOptional(texts));
  const more = element('div.comment', {}, commentLabel, comment);
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
    showFault(faults) {
      const fault = faults.find(({ step }) => step === shown.step.key);
      shown.showFault(fault);
      return Boolean(fault);
    },
    focus: () => shown.node.querySelector('h2')?.focus(),
  };
}

import type { Entered } from '../session/content.ts';
import { type Fault, isScored } from '../session/rules.ts';
import type { Card, CardStep } from '../types.ts';
import { element } from './dom.ts';
import { type Input, renderInput } from './inputs.ts';
import { say, type Texts } from './texts.ts';

interface Field extends Pick<Input, 'read'> {
  step: CardStep;
  node: HTMLElement;
  showFault(fault: Fault | undefined): void;
}

function messageOf({ code, limit = 0 }: Fault, { config }: CardStep, texts: Texts): string {
  const name = code === 'invalid' ? config.input : code;
  return say(texts[name as keyof Texts] ?? `${texts.otherText}.`, limit);
}

/** A step with title, description and error message. */
function renderField(step: CardStep, locale: string, texts: Texts): Field {
  const { key, title, description } = step;
  const error = element('p.error', { id: `${key}-error`, role: 'alert' });
  const explanation = description ? [element('p.description', { id: `${key}-description` }, description)] : [];
  const input = renderInput(step, texts);
  const isOptional = !step.required && step.type !== 'statement';
  const legend = element(
    'legend',
    {},
    element('h2.title', { tabindex: -1, 'aria-describedby': 'progress' }, title),
    ...(isOptional ? [' ', element('span.optional', {}, `(${texts.optional})`)] : []),
  );
  const node = element('fieldset.step', { lang: locale }, legend, ...explanation, ...input.nodes, error);
  const controls = node.querySelectorAll<HTMLElement>('input, textarea');
  for (const control of controls) {
    control.setAttribute('name', key);
    control.setAttribute('aria-describedby', [...explanation, error].map(({ id }) => id).join(' '));
  }
  // A digit selects the point of a scale with that value.
  node.addEventListener('keydown', ({ key, ctrlKey, metaKey, altKey }) => {
    if (ctrlKey || metaKey || altKey) return;
    const radio = node.querySelector<HTMLInputElement>(`[type=radio][value="${CSS.escape(key)}"]`);
    radio?.focus();
    radio?.click();
  });
  return {
    step,
    node,
    read: input.read,
    showFault(fault) {
      error.textContent = fault ? messageOf(fault, step, texts) : '';
      if (fault) controls[0]?.focus();
    },
  };
}

/** The form of a card, which shows one step at a time. */
export interface CardForm {
  node: HTMLFormElement;
  back: HTMLButtonElement;
  dismiss: HTMLButtonElement;
  /** The input in all steps, shown or not. */
  read(): Entered;
  /** Shows a step at its position among the shown ones, from 1. */
  show(step: CardStep, number: number, count: number): void;
  showFault(step: CardStep, fault: Fault | undefined): void;
  /** Moves the focus to the heading of a step. */
  focus(step: CardStep): void;
}

/** Renders the form of a card. */
export function renderForm({ steps, locale }: Card, texts: Texts): CardForm {
  const fields = steps.map(step => renderField(step, locale, texts));
  const fieldOf = (step: CardStep) => fields[steps.indexOf(step)] as Field;
  const comment = element('textarea.input', { id: 'comment', rows: 2, maxlength: 5000 });
  const commentLabel = element('label.label', { for: 'comment' }, `${texts.comment} (${texts.optional})`);
  const more = element('div.comment', {}, commentLabel, comment);
  const nodes: HTMLElement[] = fields.map(field => field.node);
  const scored = steps.findIndex(step => step.key === 'main' && isScored(step));
  if (scored >= 0) nodes.splice(scored + 1, 0, more);
  const isStatement = steps.every(({ type }) => type === 'statement');
  const progress = element('p.progress', { id: 'progress' });
  const submit = element('button.button submit', { type: 'submit' });
  const back = element('button.button back', { type: 'button' }, texts.back);
  const dismiss = element('button.button dismiss', { type: 'button' }, texts.dismiss);
  const node = element(
    'form.card',
    { novalidate: '' },
    progress,
    ...nodes,
    element('div.gap', {}), // keeps the actions, which stay in view, below the title
    element('div.actions', {}, submit, back, ...(isStatement ? [] : [dismiss])),
  );
  return {
    node,
    back,
    dismiss,
    read: () => ({
      values: Object.fromEntries(fields.map(({ step, read }) => [step.key, read()])),
      comment: comment.value,
    }),
    show(step, number, count) {
      for (const field of fields) field.node.hidden = field.step !== step;
      // Once a point is selected. Not by the styles: WebKit does not draw it after `:not(:has(:checked)) + …` ends.
      more.hidden = step.key !== 'main' || fieldOf(step).read() === undefined;
      back.hidden = number === 1;
      progress.textContent = count === 1 ? '' : say(texts.progress, number, count);
      submit.textContent = number < count ? texts.next : isStatement ? texts.acknowledge : texts.send;
    },
    showFault: (step, fault) => fieldOf(step).showFault(fault),
    focus: step => fieldOf(step).node.querySelector('h2')?.focus(),
  };
}

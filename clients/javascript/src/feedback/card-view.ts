import type { AnswerState, AnswerValue, Card, CardStep } from '../types.ts';
import { element } from './dom.ts';
import type { Draft } from './draft.ts';
import { type Input, isScored, renderInput } from './inputs.ts';
import type { Texts } from './texts.ts';

/** Delay between the last keystroke and saving. */
const PAUSE_MS = 500;

/** A card on the page. */
export interface CardView {
  node: HTMLFormElement;
  /** Moves the focus to the question. */
  focus(): void;
  /** Saves the current input. Call it when the card is hidden; idempotent. */
  save(): Promise<void>;
}

interface Field extends Input {
  step: CardStep;
  node: HTMLElement;
  showFault(text: string | undefined): void;
}

/** A step with title, description and error message. */
function renderField(step: CardStep, locale: string, texts: Texts): Field {
  const description = element('p', { part: 'description', id: `${step.key}-description` }, step.description);
  const error = element('p', { part: 'error', id: `${step.key}-error`, role: 'alert' });
  const input = renderInput(step, texts, `${step.description ? description.id : ''} ${error.id}`.trim());
  const title = element('h2', { part: 'title', tabindex: -1 }, step.title);
  const explained = step.description ? [description] : [];
  const node = element(
    'fieldset',
    { part: 'step', lang: locale },
    element('legend', {}, title),
    ...explained,
    ...input.nodes,
    error,
  );
  return {
    ...input,
    step,
    node,
    showFault(text) {
      error.textContent = text ?? '';
      if (text) node.querySelector<HTMLElement>('input, textarea')?.focus();
    },
  };
}

/** Renders a card; calls `onEnd` when the user has sent or dismissed it. */
export function renderCard(card: Card, texts: Texts, draft: Draft, onEnd: (state: AnswerState) => void): CardView {
  const fields = card.steps.map(step => renderField(step, card.locale, texts));
  const hasComment = card.steps.some(step => step.key === 'main' && isScored(step));
  const comment = element('textarea', { part: 'input', id: 'comment', rows: 2, maxlength: 5000 });
  const commentLabel = element('label', { part: 'label', for: 'comment' }, `${texts.comment} (${texts.optional})`);
  const isStatement = card.steps.every(({ type }) => type === 'statement');
  const submit = element(
    'button',
    { part: 'button submit', type: 'submit' },
    isStatement ? texts.acknowledge : texts.send,
  );
  const dismiss = element('button', { part: 'button dismiss', type: 'button' }, texts.dismiss);
  const node = element(
    'form',
    { part: 'card', novalidate: '' },
    ...fields.map(field => field.node),
    ...(hasComment ? [commentLabel, comment] : []),
    element('div', { part: 'actions' }, submit, ...(isStatement ? [] : [dismiss])),
  );

  function readValues(): Record<string, AnswerValue> {
    const values: Record<string, AnswerValue> = {};
    for (const { step, read } of fields) {
      const value = read();
      if (value !== undefined) values[step.key] = value;
    }
    return values;
  }

  const save = (): Promise<void> => {
    clearTimeout(timer);
    const values = readValues();
    const hasSaidSomething = Object.keys(values).length > 0 || comment.value.trim() !== '';
    return draft.save(hasSaidSomething ? 'partial' : 'seen', values, comment.value.trim());
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const saveSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(save, PAUSE_MS);
  };

  /** An empty selection is a valid answer if the question allows it. */
  const readCompleted = (): Record<string, AnswerValue> => {
    const values = readValues();
    for (const { step, whenEmpty } of fields) if (whenEmpty !== undefined) values[step.key] ??= whenEmpty;
    return values;
  };

  async function end(state: 'completed' | 'dismissed'): Promise<void> {
    clearTimeout(timer);
    await draft.save(state, state === 'completed' ? readCompleted() : readValues(), comment.value.trim());
    onEnd(state);
  }

  /** Shows validation errors; returns whether there are any. */
  function showFaults(): boolean {
    const values = readCompleted();
    const faults = fields.map(
      ({ step, fault }) => fault() ?? (step.required && values[step.key] === undefined ? texts.required : undefined),
    );
    for (const [index, field] of [...fields.entries()].reverse()) field.showFault(faults[index]);
    return faults.some(fault => fault !== undefined);
  }

  node.addEventListener('input', saveSoon);
  node.addEventListener('change', () => void save());
  node.addEventListener('submit', event => {
    event.preventDefault();
    if (!showFaults()) void end('completed');
  });
  dismiss.addEventListener('click', () => void end('dismissed'));
  void draft.save('seen');
  return { node, focus: () => node.querySelector<HTMLElement>('h2')?.focus(), save };
}

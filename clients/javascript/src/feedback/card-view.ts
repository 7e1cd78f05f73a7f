import type { Content, End } from '../session/content.ts';
import type { Draft } from '../session/draft.ts';
import { createWalk } from '../session/walk.ts';
import type { Card, CardStep } from '../types.ts';
import { renderForm } from './card-form.ts';
import type { Texts } from './texts.ts';
import { watchVisibility } from './visibility.ts';

/** Delay between the last keystroke and saving. */
const PAUSE_MS = 500;

/** A card on the page. */
export interface CardView {
  node: HTMLFormElement;
  /** Moves the focus to the question. */
  focus(): void;
  /** Saves the current input, if the card was seen. Call it when the card is hidden; idempotent. */
  save(): Promise<void>;
  /** Records that the user declined to answer. */
  dismiss(): void;
  /** Saves the input and ends the watch of its visibility. */
  leave(): Promise<void>;
}

/** Renders a card, one step after another; calls `onEnd` when the user has sent or dismissed it. The draft must not reject. */
export function renderCard(card: Card, texts: Texts, draft: Draft, onEnd: (content: Content) => void): CardView {
  const form = renderForm(card, texts);
  const { node } = form;
  const walk = createWalk(card.steps, form.read);
  const current = () => walk.steps()[walk.index()] as CardStep;
  const focus = () => form.focus(current());
  /** Shows the current step. The steps after it depend on the input. */
  const update = () => form.show(current(), walk.index() + 1, walk.steps().length);
  let isSeen = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function save(): Promise<void> {
    clearTimeout(timer);
    const content = walk.content();
    if (isSeen || content.state !== 'seen') await draft.save(content);
  }
  async function end(state: End): Promise<void> {
    clearTimeout(timer);
    unwatch();
    const content = walk.content(state);
    await draft.save(content);
    onEnd(content);
  }
  function turn(): void {
    update();
    void save();
    focus();
  }

  node.addEventListener('input', () => {
    form.showFault(current(), undefined);
    update();
    clearTimeout(timer);
    timer = setTimeout(save, PAUSE_MS);
  });
  node.addEventListener('change', save);
  node.addEventListener('submit', event => {
    event.preventDefault();
    const step = current();
    const fault = walk.faults().find(each => each.step === step.key);
    form.showFault(step, fault);
    if (fault) return;
    if (walk.next()) turn();
    else void end('completed');
  });
  form.back.addEventListener('click', () => walk.back() && turn());
  const dismiss = () => void end('dismissed');
  form.dismiss.addEventListener('click', dismiss);
  const unwatch = watchVisibility(node, () => {
    isSeen = true;
    void save();
  });
  update();
  return {
    node,
    focus,
    save,
    dismiss,
    leave() {
      unwatch();
      return save();
    },
  };
}

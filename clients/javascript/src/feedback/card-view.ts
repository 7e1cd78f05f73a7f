import type { Content, End } from '../session/content.ts';
import type { Draft } from '../session/draft.ts';
import { createWalk } from '../session/walk.ts';
import type { Card } from '../types.ts';
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

/**
 * Renders a card, one step after another; calls `onEnd` when the user has sent or dismissed it. `saveContent` is that of the
 * draft, and must not reject.
 */
export function renderCard(
  card: Card,
  texts: Texts,
  saveContent: Draft['save'],
  onEnd: (content: Content) => void,
): CardView {
  const dismiss = () => void end('dismissed');
  const form = renderForm(card, texts, {
    onSubmit() {
      if (form.showFault(walk.faults())) return;
      if (walk.next()) turn();
      else void end('completed');
    },
    onBack: () => walk.back() && turn(),
    onDismiss: dismiss,
  });
  const { node, focus } = form;
  const walk = createWalk(card.steps, form.read);
  /** Shows the current step. The steps after it depend on the input. */
  const update = () => form.show(walk.steps(), walk.index());
  let isSeen = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function save(): Promise<void> {
    clearTimeout(timer);
    const content = walk.content();
    if (isSeen || content.state !== 'seen') await saveContent(content);
  }
  async function end(state: End): Promise<void> {
    clearTimeout(timer);
    unwatch();
    const content = walk.content(state);
    await saveContent(content);
    onEnd(content);
  }
  function turn(): void {
    update();
    void save();
    focus();
  }

  node.addEventListener('input', () => {
    form.showFault([]);
    update();
    clearTimeout(timer);
    timer = setTimeout(save, PAUSE_MS);
  });
  node.addEventListener('change', save);
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

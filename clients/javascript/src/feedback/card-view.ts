import type { Content, End, Entered } from '../session/content.ts';
import { createWalk, type Position } from '../session/walk.ts';
import type { Card } from '../types.ts';
import { type FormInput, renderForm } from './card-form.ts';
import type { Texts } from './texts.ts';
import { watchVisibility } from './visibility.ts';

/** Delay between the last keystroke and saving. */
const PAUSE_MS = 500;

/** The user's input, and the position in the card. */
export interface CardInput extends FormInput {
  position: Position;
}

/** Reports of a view. */
export interface CardEvents {
  /** Content to record. Must not reject. */
  onContent(content: Content): Promise<void>;
  /** Input to keep; undefined while the card is untouched. */
  onInput(input: CardInput | undefined): void;
  /** The user ends the card. Its content is recorded after this. */
  onEnd(): void;
  /** The user has ended the card, and its content is recorded. */
  onEnded(content: Content, end: End): void;
}

/** A card on the page. */
export interface CardView {
  node: HTMLFormElement;
  /** Moves the focus to the question. */
  focus(): void;
  /** Whether the user has entered something, has gone on to another step, or is ending the card. */
  isBegun(): boolean;
  /** Saves the current input, if the card was seen. Call it when the card is hidden; idempotent. */
  save(): Promise<void>;
  /** Records that the user declined to go on. */
  dismiss(): void;
  /** Saves the input and ends the watch of its visibility. */
  leave(): Promise<void>;
  /** Ends without saving. */
  discard(): void;
}

const hasInput = ({ values, comment }: Entered): boolean =>
  comment !== '' || Object.values(values).some(value => value !== undefined);

/** Renders a card, one step after another; `from` is the input of an earlier view. */
export function renderCard(card: Card, texts: Texts, events: CardEvents, from?: CardInput): CardView {
  const dismiss = () => void end('dismissed');
  const form = renderForm(card, texts, {
    onSubmit() {
      const wrong = form.mark(walk.faults());
      if (wrong) return wrong.focus();
      if (walk.next()) turn();
      else void end('completed');
    },
    onBack: () => walk.back() && turn(),
    onDismiss: dismiss,
  });
  const { node, focus } = form;
  if (from) form.restore(from);
  const walk = createWalk(card.steps, form.read, from?.position);
  /** Shows the current step. The steps after it depend on the input. A text that is too long, which may be pasted, is marked at once. */
  function update(): void {
    form.show(walk.steps(), walk.index());
    form.mark(walk.faults().filter(({ code }) => code === 'too-long'));
  }
  let isSeen = Boolean(from);
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const isBegun = () => isOver || walk.index() > 0 || hasInput(form.read());

  async function save(): Promise<void> {
    clearTimeout(timer);
    if (isOver) return;
    const content = walk.content();
    const saved = isSeen || content.state !== 'seen' ? events.onContent(content) : undefined;
    events.onInput(isBegun() ? { ...form.input(), position: walk.position() } : undefined);
    await saved;
  }
  function discard(): void {
    clearTimeout(timer);
    unwatch();
    isOver = true;
  }
  async function end(how: End): Promise<void> {
    if (isOver) return;
    discard();
    events.onEnd();
    const content = walk.content(how);
    await events.onContent(content);
    events.onEnded(content, how);
  }
  function turn(): void {
    update();
    void save();
    focus();
  }

  node.addEventListener('input', () => {
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
    isBegun,
    save,
    dismiss,
    leave() {
      unwatch();
      return save();
    },
    discard,
  };
}

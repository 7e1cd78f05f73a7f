import type { CardStep } from '../../../clients/javascript/src/types.ts';

/** A stored answer to a step; only the question itself has a comment. */
export interface GivenAnswer {
  value: unknown;
  comment: string | null;
}

interface Choice {
  option_id?: string;
  option_ids?: string[];
  other_text?: string;
}

/** The lowest point of each scale. */
const FIRST_POINT: Record<string, number> = { nps: 0, csat: 1, ces: 1, rating: 1 };

/** Positions of the chosen inputs in the view, in which `Other` follows the options. */
function chosenIn({ type, config }: CardStep, value: unknown): number[] {
  if (typeof value === 'number') return [value - (FIRST_POINT[type] ?? 0)];
  if (typeof value === 'boolean') return [type === 'thumbs' && !value ? 1 : 0];
  const { option_id, option_ids = [], other_text } = (value ?? {}) as Choice;
  const options = config.options ?? [];
  const ids = option_id === undefined ? option_ids : [option_id];
  const chosen = options.flatMap(({ id }, at) => (ids.includes(id) ? [at] : []));
  return other_text === undefined ? chosen : [...chosen, options.length];
}

const BOXES = 'input[type=radio], input[type=checkbox]';
const FIELDS = '[part=step] :is(textarea, input:not([type=radio], [type=checkbox]))';

const write = (field: HTMLInputElement | HTMLTextAreaElement | null, text: unknown): void => {
  if (field && (typeof text === 'string' || typeof text === 'number')) field.value = String(text);
};

/** Hides the buttons and their place. Inline styles, because those of the view override `hidden`. */
function hideActions(card: ParentNode): void {
  for (const part of card.querySelectorAll<HTMLElement>('[part=actions], [part=gap]')) part.style.display = 'none';
  for (const form of card.querySelectorAll<HTMLElement>('[part=card]')) form.style.paddingBottom = '8px';
}

/** Keeps the view of a card from being a landmark, where several of them are next to each other. */
export function withoutLandmark(card: ParentNode): void {
  for (const view of card.querySelectorAll('[part=view]')) view.setAttribute('role', 'group');
}

/** Enters a stored answer into a card of the client with one step, and makes it read-only: its fields are disabled, its buttons hidden. */
export function fillCard(card: ParentNode, step: CardStep, { value, comment }: GivenAnswer): void {
  const boxes = [...card.querySelectorAll<HTMLInputElement>(BOXES)];
  for (const at of chosenIn(step, value)) if (boxes[at]) boxes[at].checked = true;
  write(card.querySelector(FIELDS), (value as Choice | null)?.other_text ?? value);
  write(card.querySelector('#comment'), comment);
  const more = card.querySelector<HTMLElement>('[part=comment]');
  if (more) more.hidden = !comment; // the view hides it without a value
  withoutLandmark(card);
  for (const field of card.querySelectorAll<HTMLInputElement>('input, textarea')) field.disabled = true;
  hideActions(card);
}

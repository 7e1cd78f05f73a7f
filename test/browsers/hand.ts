import type { CardStep } from '../../clients/javascript/src/index.ts';
import type { Person } from './driver.ts';

export type Way = 'click' | 'keyboard';

const CURRENT = 'fieldset:not([hidden])';

/** Sets the date, whose picker is not part of the page. */
function setDate(value: string): void {
  const root = document.querySelector('parley-feedback')?.shadowRoot;
  const field = root?.querySelector('[type=date]') as HTMLInputElement;
  field.value = value;
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

async function answerByClick(person: Person, { type, config }: CardStep): Promise<void> {
  if (type === 'text') {
    await person.click(`${CURRENT} textarea`);
    await person.write('Dark mode.');
  } else if (type === 'date') await person.run(setDate, '2026-12-01');
  else if (type === 'thumbs') await person.click(`${CURRENT} input[value=true]`);
  else if (type === 'consent' || config.options) await person.click(`${CURRENT} [part~=option] input`);
  else if (type !== 'statement') await person.click(`${CURRENT} input[value="3"]`);
  await person.click('[part~=submit]');
}

/** The focus is before the input: on the heading, or above the first card. */
async function answerByKeyboard(person: Person, { type, config }: CardStep): Promise<void> {
  await person.press('Tab');
  if (type === 'statement') return person.press('Tab', 'Enter'); // after its link
  if (type === 'text') {
    await person.write('Dark mode.');
    return person.press('Tab', 'Enter');
  }
  if (type === 'date') await person.run(setDate, '2026-12-01');
  else await person.press(type === 'thumbs' || type === 'consent' || config.options ? 'Space' : '3');
  await person.press('Enter');
}

/** Answers the current step and sends it: a 3 on scales, thumbs up, the first option. */
export const answer = (person: Person, step: CardStep, way: Way): Promise<void> =>
  way === 'click' ? answerByClick(person, step) : answerByKeyboard(person, step);

import { rangeOf } from '../session/rules.ts';
import type { AnswerValue, CardStep, QuestionType } from '../types.ts';
import { type Child, element, icon, linkTo } from './dom.ts';
import { orderBy } from './order.ts';
import { say, type Texts } from './texts.ts';

/** The input of a type of steps. */
interface Input {
  /** `seed` decides on the order of shuffled options. */
  render(step: CardStep, texts: Texts, seed: string): Child[];
  /**
   * The value, valid or not; undefined if empty. `checked` are the values of the checked boxes, `text` is the content of
   * the field.
   */
  read(checked: string[], text: string): AnswerValue | undefined;
}

type BoxType = 'radio' | 'checkbox';

/** A radio button or checkbox with its label. */
const renderBox = (type: BoxType, value: string, label: string): HTMLElement =>
  element('label.option', {}, element('input', { type, value }), label);

/** A point on a scale: a radio button with a visible symbol and an accessible name. */
const renderPoint = (value: number | boolean, name: string, ...face: Child[]): HTMLElement =>
  element(
    'label.point',
    {},
    element('input', { type: 'radio', value, 'aria-label': name }),
    element('span', { 'aria-hidden': true }, ...face),
  );

/** The value of a checked point or of a consent. */
const readPoint: Input['read'] = ([value]) => value && JSON.parse(value);

/** Number of points from which a scale is as wide as a narrow card. */
const WIDE = 10;

/** Points in a row. A digit key selects the point of that value. */
const renderPoints = (points: HTMLElement[], style: string, { low = '', high = '' } = {}): Child[] => [
  element(
    points.length < WIDE ? 'div.range' : 'div.range wide',
    {},
    element(`div.scale ${style}`, {}, ...points),
    (low || high) && element('p.ends', {}, ...[low, high].map(end => element('span', {}, element('bdi', {}, end)))),
  ),
];

const STAR = 'm12 3 3 6 6 1-4.5 4 1 6.5L12 17.5l-5.5 3 1-6.5L3 10l6-1z';
const THUMB = 'M7 10v10H3V10h4l4-7c2 0 3 1 2.5 3L13 9h5c2 0 3 1 2.5 3l-1 5c0 2-1 3-3 3H7';

/** A face whose mouth shows the position on the scale, from 0 to 1. The lowest one frowns, the highest laughs. */
function faceAt(position: number): Node {
  const bend = position * 8 - 4;
  const mouth = `M8 ${15.5 - bend / 2}q4 ${bend * 1.5} 8 0`;
  const extreme = position === 0 ? 'M8 7l2.5 1.3M16 7l-2.5 1.3' : position === 1 ? 'z' : '';
  return icon(`M21 12A9 9 0 1 1 3 12A9 9 0 0 1 21 12M9 10v.1M15 10v.1${mouth}${extreme}`);
}

const scale: Input = {
  render(step, texts) {
    const { from, to } = rangeOf(step);
    const { style = 'number', labels = {} } = step.config;
    const points = [...Array(to - from + 1).keys()].map(index => {
      const value = from + index;
      const number = `${value}`;
      const face =
        style === 'smiley'
          ? [faceAt(index / (to - from))]
          : style === 'star'
            ? [to >= WIDE && element('i', {}, number), icon(STAR)] // ten stars are numbers in a narrow card
            : [number];
      const label = value === from ? labels.low : value === to && labels.high;
      return renderPoint(value, say(texts.point, value, to) + (label ? `, ${label}` : ''), ...face);
    });
    return renderPoints(points, style, labels);
  },
  read: readPoint,
};

const thumbs: Input = {
  render: ({ config: { labels } }, texts) =>
    renderPoints(
      [
        renderPoint(true, texts.thumbsUp, icon(THUMB)),
        renderPoint(false, texts.thumbsDown, icon(THUMB, 'matrix(1 0 0 -1 0 24)')),
      ],
      'thumbs',
      labels,
    ),
  read: readPoint,
};

/** Radio buttons or checkboxes, and a field for another answer, whose box has an empty value. */
const choice = (type: BoxType, toValue: (ids: string[], other: { other_text?: string }) => AnswerValue): Input => ({
  render({ config: { options = [], allow_other, shuffle } }, texts, seed) {
    const boxes = (shuffle ? orderBy(seed, options) : options).map(({ id, label }) => renderBox(type, id, label));
    if (!allow_other) return boxes;
    const other = renderBox(type, '', texts.other);
    const text = element('input.input', { 'aria-label': texts.otherText });
    other.addEventListener('change', () => text.focus()); // possible only if its box is checked: the styles show it then
    return [...boxes, other, text];
  },
  read: (checked, other_text) =>
    checked.length > 0
      ? toValue(
          checked.filter(id => id),
          checked.includes('') ? { other_text } : {},
        )
      : undefined,
});

/** A field for a text or a date. */
const field: Input = {
  render({ type, title, config: { input = 'text' } }) {
    return [
      element(type === 'date' || input !== 'text' ? 'input.input' : 'textarea.input', {
        type,
        'aria-label': title,
        inputmode: input === 'number' ? 'decimal' : input,
        rows: 3,
      }),
    ];
  },
  read: (_, text) => text.trim() || undefined,
};

/** The inputs by type of question. */
export const INPUTS: Record<QuestionType, Input> = {
  nps: scale,
  csat: scale,
  ces: scale,
  rating: scale,
  thumbs,
  single_choice: choice('radio', ([option_id], other) => (option_id === undefined ? other : { option_id })),
  multi_choice: choice('checkbox', (option_ids, other) => ({ option_ids, ...other })),
  text: field,
  date: field,
  consent: { render: (_, texts) => [renderBox('checkbox', 'true', texts.consent)], read: readPoint },
  statement: { render: ({ config: { url } }, texts) => [linkTo(url, texts.more)], read: () => undefined },
};

import { rangeOf } from '../session/rules.ts';
import type { AnswerValue, CardStep, QuestionType } from '../types.ts';
import { element, icon, linkTo } from './dom.ts';
import { say, type Texts } from './texts.ts';

/** The input of a step. */
export interface Input {
  nodes: Node[];
  /** Current value, valid or not; undefined if empty. */
  read(): AnswerValue | undefined;
}

type Render = (step: CardStep, texts: Texts) => Input;

interface Point {
  value: number | boolean;
  face: Node[];
  name: string;
}

/** Number of points from which a scale is as wide as a narrow card. */
const WIDE = 10;

/** Horizontal radio buttons with a visible symbol and an accessible name. A digit key selects the point of that value. */
function renderPoints(points: Point[], style: string, { low = '', high = '' } = {}): Input {
  const radios = points.map(({ name, value }) =>
    element('input', { type: 'radio', 'aria-label': name, value: `${value}` }),
  );
  const labels = radios.map((radio, index) =>
    element(
      'label',
      { part: 'point' },
      radio,
      element('span', { 'aria-hidden': 'true' }, ...(points[index] as Point).face),
    ),
  );
  const range = element('div', { part: points.length < WIDE ? 'range' : 'range wide' });
  range.append(element('div', { part: `scale ${style}` }, ...labels));
  if (low || high) range.append(element('p', { part: 'ends' }, element('span', {}, low), element('span', {}, high)));
  return { nodes: [range], read: () => points[radios.findIndex(radio => radio.checked)]?.value };
}

const STAR = 'm12 3 2.8 5.7 6.2.9-4.5 4.4 1 6.2-5.5-2.9-5.5 2.9 1-6.2L3 9.6l6.2-.9z';
const THUMB =
  'M7 10v10H3.5V10zl4.2-7c1.9 0 2.9 1.3 2.5 3.1L13 9h5.3c1.6 0 2.5 1.2 2.2 2.6l-1.3 6.2C19 19.2 18.1 20 16.8 20H7';

/** A face whose mouth shows the position on the scale, from 0 to 1. The lowest one frowns, the highest laughs. */
function faceAt(position: number): Node {
  const bend = position * 8 - 4;
  const mouth = `M8 ${15.5 - bend / 2}Q12 ${15.5 + bend} 16 ${15.5 - bend / 2}`;
  const extreme = position === 0 ? 'M8 7l2.5 1.3M16 7l-2.5 1.3' : position === 1 ? 'z' : '';
  return icon(`M21 12A9 9 0 1 1 3 12A9 9 0 0 1 21 12M9 10v.1M15 10v.1${mouth}${extreme}`);
}

const scale: Render = (step, texts) => {
  const { from, to } = rangeOf(step);
  const { style = 'number', labels } = step.config;
  const pointOf = (value: number): Point => {
    const number = new Text(`${value}`);
    const label = value === from ? labels?.low : value === to ? labels?.high : '';
    return {
      value,
      // Ten stars are numbers in a narrow card.
      face:
        style === 'star'
          ? [...(to < WIDE ? [] : [element('i', {}, number)]), icon(STAR)]
          : [style === 'smiley' ? faceAt((value - from) / (to - from)) : number],
      name: say(texts.point, value, to) + (label ? `, ${label}` : ''),
    };
  };
  return renderPoints(
    Array.from({ length: to - from + 1 }, (_, index) => pointOf(from + index)),
    style,
    labels,
  );
};

const thumbs: Render = ({ config: { labels } }, texts) =>
  renderPoints(
    [
      { value: true, face: [icon(THUMB)], name: texts.thumbsUp },
      { value: false, face: [icon(THUMB, 'matrix(1 0 0 -1 0 24)')], name: texts.thumbsDown },
    ],
    'thumbs',
    labels,
  );

const shuffled = <T>(items: T[]): T[] =>
  items
    .map(item => ({ item, rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);

/** Radio buttons or checkboxes, and a field for another answer. */
const options =
  (type: 'radio' | 'checkbox', toValue: (ids: string[], other: { other_text?: string }) => AnswerValue): Render =>
  ({ config: { options = [], allow_other, shuffle } }, texts) => {
    const shown = (shuffle ? shuffled(options) : options).map(({ id, label }) => {
      const box = element('input', { type });
      return { id, box, node: element('label', { part: 'option' }, box, label) };
    });
    const nodes: Node[] = shown.map(({ node }) => node);
    const box = element('input', { type });
    const text = element('input', { part: 'input', type: 'text', maxlength: 5000, 'aria-label': texts.otherText });
    if (allow_other) nodes.push(element('label', { part: 'option' }, box, texts.other), text);
    box.addEventListener('change', () => box.checked && text.focus()); // the styles show it while its box is checked
    return {
      nodes,
      read() {
        const ids = shown.filter(each => each.box.checked).map(({ id }) => id);
        if (ids.length > 0 || box.checked) return toValue(ids, box.checked ? { other_text: text.value } : {});
        return undefined;
      },
    };
  };

/** The keyboards of inputs whose name in HTML is another one. */
const INPUT_MODES: Record<string, string> = { number: 'decimal' };

const text: Render = ({ title, config: { input = 'text', max_length = 5000 } }) => {
  const attributes = { part: 'input', maxlength: max_length, 'aria-label': title };
  const field =
    input === 'text'
      ? element('textarea', { ...attributes, rows: 3 })
      : element('input', { ...attributes, type: 'text', inputmode: INPUT_MODES[input] ?? input });
  return { nodes: [field], read: () => field.value.trim() || undefined };
};

const date: Render = ({ title }) => {
  const field = element('input', { part: 'input', type: 'date', 'aria-label': title });
  return { nodes: [field], read: () => field.value || undefined };
};

const consent: Render = (_, texts) => {
  const box = element('input', { type: 'checkbox' });
  return { nodes: [element('label', { part: 'option' }, box, texts.consent)], read: () => box.checked || undefined };
};

const statement: Render = ({ config: { url } }, texts) => ({ nodes: linkTo(url, texts.more), read: () => undefined });

/** Input factories by question type. */
const INPUTS: Record<QuestionType, Render> = {
  nps: scale,
  csat: scale,
  ces: scale,
  rating: scale,
  thumbs,
  single_choice: options('radio', ([option_id], other) => (option_id === undefined ? other : { option_id })),
  multi_choice: options('checkbox', (option_ids, other) => ({ option_ids, ...other })),
  text,
  date,
  consent,
  statement,
};

/** Creates the input of a step. */
export const renderInput: Render = (step, texts) => INPUTS[step.type](step, texts);

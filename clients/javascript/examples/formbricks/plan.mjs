/** Turns a Formbricks survey into one question with steps, with a reason for each element that cannot be one. */

import { lossesOfCards } from './endings.mjs';
import { languagesOf } from './languages.mjs';
import { readLogic } from './logic.mjs';
import { lossesOfElement, lossesOfSurvey } from './losses.mjs';
import { obstacleOf } from './obstacles.mjs';
import { blocksOf } from './survey.mjs';

/** The most steps of a question. */
const MAX_STEPS = 10;

const keyOf = ({ id }, index) => (id === 'main' || id.length > 64 ? `step-${index}` : id);

const withKeys = (showIf, keys) => {
  if (showIf === null) return null;
  const renamed = condition => ({ ...condition, step: keys.get(condition.step) });
  if (showIf.all) return { all: showIf.all.map(renamed) };
  return showIf.any ? { any: showIf.any.map(renamed) } : renamed(showIf);
};

/** Why an element of a page cannot be a step; undefined if it can. */
function obstacle(element, showIf, steps) {
  const own = obstacleOf(element);
  if (own) return own;
  if (showIf?.reason) return showIf.reason;
  if (steps.length === 0 && element.type === 'cta') return 'a statement before the first question';
  if (steps.length === 0 && showIf) return 'it is not always shown, and no question before it could be imported';
  return steps.length === MAX_STEPS ? `a question has at most ${MAX_STEPS} steps` : undefined;
}

/** Rules without an equivalent in Parley that affect no step's condition. */
const lossesOf = blocks => [
  ...(blocks.some(({ rules }) => rules.some(({ others }) => others.includes('requireAnswer')))
    ? ['a question that becomes required by an answer: it stays optional']
    : []),
  ...(blocks.some(({ rules }) => rules.some(({ others }) => others.includes('calculate')))
    ? ['calculated variables']
    : []),
  ...blocks.flatMap(({ elements }) => elements.filter(each => !obstacleOf(each)).flatMap(lossesOfElement)),
];

function planWith(blocks, mainId) {
  const logicOf = readLogic(blocks, mainId);
  const steps = [];
  const others = [];
  const keys = new Map();
  for (const [page, { elements }] of blocks.entries()) {
    const showIf = logicOf(page, new Set(keys.keys()));
    for (const element of elements) {
      const reason = obstacle(element, showIf, steps);
      if (reason) {
        others.push({ element, reason });
        continue;
      }
      steps.push({
        element,
        key: steps.length === 0 ? 'main' : keyOf(element, steps.length),
        show_if: withKeys(showIf, keys),
      });
    }
    for (const { element, key } of steps) keys.set(element.id, key);
  }
  return { steps, others, losses: lossesOf(blocks) };
}

/**
 * The steps of a survey in order, each with its element, key and `show_if`; the elements that are not steps, each with the reason; and
 * what else is lost. The first step is the question itself. An element that is not a step can still be a question of its own.
 */
export function planSurvey(survey) {
  const blocks = blocksOf(survey);
  const first = planWith(blocks);
  const plan = planWith(blocks, first.steps[0]?.element.id); // now the question itself counts as always answered
  const losses = [lossesOfSurvey(survey), lossesOfCards(survey), languagesOf(survey).losses].flat();
  return { ...plan, losses: [...plan.losses, ...losses] };
}

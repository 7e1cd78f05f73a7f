/** Why Parley cannot have an element of a survey, neither as a step nor as a question of its own. */
import { contentOf } from './content.mjs';
import { TYPES } from './survey.mjs';

const MIN_OPTIONS = 2;
const MAX_OPTIONS = 30;
const OPTION_ID = /^[A-Za-z0-9_-]{1,64}$/;

function obstacleIn(options) {
  if (options.length < MIN_OPTIONS || options.length > MAX_OPTIONS)
    return `a choice has ${MIN_OPTIONS} to ${MAX_OPTIONS} options, and it has ${options.length}`;
  const ids = new Set(options.map(({ id }) => id));
  if (ids.size < options.length || options.some(({ id }) => !OPTION_ID.test(id) || id === '__proto__'))
    return 'the id of an option is used twice, or has other characters than A-Z a-z 0-9 _ -';
  return options.some(({ label }) => label === '') ? 'an option has no text' : undefined;
}

/** Why Parley cannot have an element; undefined if it can. */
export function obstacleOf(element) {
  if (!TYPES[element.type]) return `Parley has nothing like ${element.type}`;
  const { title, config } = contentOf(element);
  if (title === '') return 'it has no text';
  return config.options ? obstacleIn(config.options) : undefined;
}

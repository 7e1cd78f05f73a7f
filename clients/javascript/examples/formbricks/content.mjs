/** The texts and settings of an element of a survey as those of a question or step. */
import { plain, TYPES } from './survey.mjs';

/** The content of an element; with a language code of Formbricks, its texts in this language, which are empty where there are none. */
export const contentOf = (element, language) => ({
  type: TYPES[element.type].type,
  title: plain(element.headline, 300, language),
  description: plain(element.subheader, 1000, language),
  config: TYPES[element.type].config(element, language),
});

/** Whether a completed answer needs a value of the element where it is shown. */
export const isRequired = ({ type, required }) => type !== 'cta' && required === true;

/** What a survey and its elements have that Parley's question does not, with the reason. */
import { mediaOf } from './endings.mjs';
import { plain, TYPES } from './survey.mjs';

/** Limits that older answers may not fit: with them the import could refuse answers. */
function limitsOf({ charLimit, validation, inputType }, name) {
  const rules = [...new Set((validation?.rules ?? []).map(({ type }) => type))];
  return [
    ...(charLimit?.enabled
      ? [`the length limits of ${name}: set min_length and max_length after the last import`]
      : []),
    ...(rules.length > 0 ? [`the validation of ${name} by ${rules.join(', ')}: add limits after the last import`] : []),
    ...(inputType === 'phone' ? [`the form of phone numbers of ${name}: Parley takes any text`] : []),
  ];
}

function labelsOf(element, name) {
  const { type, label, buttonExternal, ctaButtonLabel } = element;
  if (type === 'consent' && plain(label))
    return [`the label "${plain(label, 60)}" of ${name}: Parley's says "I agree"`];
  if (type !== 'cta' || !buttonExternal) return [];
  const button = `the button "${plain(ctaButtonLabel, 60)}" of ${name}`;
  return [TYPES.cta.config(element).url ? `${button}: Parley's has its own text` : `${button}: it is no web address`];
}

const RECALL = /#recall:([A-Za-z0-9_-]+)\//g;

function recallsOf({ headline, subheader }, name) {
  const recalled = [...JSON.stringify([headline, subheader]).matchAll(RECALL)].map(([, id]) => id);
  return [...new Set(recalled)].map(id => `the value of "${id}" in the text of ${name}: its fallback is shown`);
}

/** What is lost of an element. */
export function lossesOfElement(element) {
  const name = `"${plain(element.headline, 60)}"`;
  return [limitsOf, labelsOf, recallsOf, mediaOf].flatMap(lossesIn => lossesIn(element, name));
}

/** What is lost of a survey apart from its elements, cards, languages and rules. */
export function lossesOfSurvey({ hiddenFields, followUps }) {
  const fields = (hiddenFields?.enabled && hiddenFields.fieldIds) || [];
  return [
    ...(fields.length > 0 ? [`the hidden fields ${fields.join(', ')}: send such values as attributes or context`] : []),
    ...(followUps?.length ? [`${followUps.length} emails after a response: webhooks report answers instead`] : []),
  ];
}

/** The welcome card and the endings of a Formbricks survey: one ending becomes Parley's `thanks`. */
import { plain } from './survey.mjs';

const isWebAddress = address =>
  typeof address === 'string' && address.length <= 2000 && URL.canParse(address) && /^https?:/i.test(address);

/** The endings in order. Before version 2.4 there was one, the thank you card. */
const endingsOf = ({ endings, thankYouCard }) =>
  endings ?? (thankYouCard?.enabled ? [{ ...thankYouCard, id: 'end', type: 'endScreen' }] : []);

const hasText = ending => ending.type === 'endScreen' && plain(ending.headline ?? ending.subheader) !== '';

/** The ending that users see unless a rule leads to another one: the first, if it is a text. */
export const endingOf = survey => endingsOf(survey).find(hasText);

/** The texts of an ending as those of Parley's `thanks`; null without an ending. */
export function thanksIn(ending, language) {
  if (!ending) return null;
  const [first, second] = plain(ending.headline) === '' ? [ending.subheader] : [ending.headline, ending.subheader];
  const label = plain(ending.buttonLabel, 80, language);
  const hasLink = isWebAddress(ending.buttonLink) && plain(ending.buttonLabel, 80) !== '';
  return {
    title: plain(first, 300, language),
    body: plain(second, 1000, language),
    link: hasLink ? { label, url: ending.buttonLink } : null,
  };
}

const MEDIA = [
  ['imageUrl', 'an image'],
  ['videoUrl', 'a video'],
  ['fileUrl', 'an image'],
];

/** What a card with a headline has that Parley's texts do not. */
export const mediaOf = (card, name) =>
  MEDIA.filter(([field]) => card[field]).map(([, kind]) => `${kind} of ${name}: Parley shows texts only`);

function lossesOfEnding(ending, chosen) {
  const name = `the ending "${plain(ending.headline ?? ending.subheader ?? ending.label, 60)}"`;
  if (ending.type === 'redirectToUrl') return [`${name}: Parley does not lead users to ${ending.url}`];
  if (!hasText(ending)) return ['an ending without a text: Parley thanks users in its own words'];
  if (ending !== chosen) return [`${name}: a question has one text after the answer`];
  const { buttonLabel, buttonLink } = ending;
  const label = plain(buttonLabel, 60);
  const reason = buttonLink ? 'its address is neither http nor https' : 'it has no address';
  return [
    ...(label && !isWebAddress(buttonLink) ? [`the button "${label}" of ${name}: ${reason}`] : []),
    ...mediaOf(ending, name),
  ];
}

/** What Parley has nothing like, of the cards before and after the questions, with the reason. */
export function lossesOfCards(survey) {
  const { welcomeCard } = survey;
  const endings = endingsOf(survey);
  const chosen = endings.find(hasText);
  return [
    ...(welcomeCard?.enabled
      ? [`the welcome card "${plain(welcomeCard.headline, 60)}": Parley begins with the first question`]
      : []),
    ...endings.flatMap(ending => lossesOfEnding(ending, chosen)),
  ];
}
